import { type Runtime, trustQuestion } from '@hermes/runtime'
import { confirm } from '../confirm.js'
import type { Io } from '../io.js'
import { printable } from '../render/style.js'

/** Of hooks at once: a yes is for what was shown. */
const SHOWN = 10

/** Asks about the project here, once for what it brings now. Resolves with whether the person said that they trust it. */
export async function askForTrust(io: Io, trust: Runtime['trust']): Promise<boolean> {
  const cover = await trust.look(io.cwd)
  const question = trustQuestion(cover)
  if (question === null) return false
  const isTrusted = await confirm(io, printable(question), 'yes', { needsEnter: true })
  await trust.answer(cover.folder, isTrusted)
  return isTrusted
}

/** Asks about hooks that wait for a consent. */
export async function askForHooks(io: Io, hooks: Runtime['hooks']): Promise<void> {
  const { hooks: listed } = await hooks.list(io.cwd)
  const waiting = listed.filter(({ consent }) => consent !== 'agreed')
  for (let from = 0; from < waiting.length; from += SHOWN) {
    const shown = waiting.slice(from, from + SHOWN)
    const lines = shown.map(
      ({ hook, consent }) =>
        `  ${hook.event}: ${hook.command}${consent === 'changed' ? ' (changed since your last yes)' : ''}`,
    )
    const rest = waiting.length - from - shown.length
    const question = rest === 0 ? 'Let them run?' : `Let them run? (${rest} more after these)`
    const title = ['Hooks run programs at events, as you, outside the isolation:', ...lines, question].join('\n')
    if (!(await confirm(io, printable(title), 'yes'))) return
    await hooks.agree(
      io.cwd,
      shown.map(({ number }) => number),
    )
  }
}
