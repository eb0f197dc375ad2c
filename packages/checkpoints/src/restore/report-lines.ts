import { printableName } from '../objects/file-name.js'
import type { RestoreReport } from './restore-workspace.js'

const SHOWN = 20

/** What a restore did, a line for each kind of thing; paths beyond twenty are counted. `forceHint` says how to insist. */
export function reportLines(report: RestoreReport, forceHint: string): readonly string[] {
  const { target, undo, restored, removed, merged, edited, conflicts, unavailable } = report
  const name = `checkpoint ${target.number}${target.label === null ? '' : ` (${target.label})`}`
  const isDone = restored.length + removed.length > 0 || undo !== null
  const lines = [isDone ? `Back at ${name}.` : `Nothing had to be changed for ${name}.`]
  const add = (title: string, paths: readonly string[]) => {
    if (paths.length > 0) lines.push(`${title} (${paths.length}): ${shown(paths.map(printableName))}`)
  }
  add('Restored', restored)
  add('Removed', removed)
  add('Restored with later edits kept', merged)
  add(
    'Left as they are',
    conflicts.map(({ path, why }) => `${path} – ${why}`),
  )
  add('Other than in the checkpoint, changed by somebody else and kept', edited)
  add('Not kept in any checkpoint', unavailable)
  if (conflicts.length + edited.length > 0) lines.push(forceHint)
  if (undo) lines.push(`The state before is checkpoint ${undo.number}.`)
  return lines
}

function shown(paths: readonly string[]): string {
  const more = paths.length - SHOWN
  return more > 0 ? `${paths.slice(0, SHOWN).join(', ')} and ${more} more` : paths.join(', ')
}
