import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isMap } from './check-field.js'
import { editYaml } from './edit-yaml.js'
import type { Field } from './field.js'
import { readToEdit } from './files.js'
import { homeLayout } from './home.js'
import { faultOf } from './load-config.js'
import { SCHEMA } from './schema.js'
import { parseYaml } from './yaml-file.js'

/** A key that stands in a file under another name than today's. Dotted. */
interface KeyMove {
  readonly from: string
  /** `null` where today's name is there too and counts: the old one goes. */
  readonly to: string | null
}

/**
 * Writes `config.yaml` of a home with the names that keys have today; comments and order stay. Older names are read for ever, so nothing has
 * to be. Gives what was changed; with `dryRun` what would be.
 * @throws HermesError `config.broken` (with file, line and column), `files.not_writable`, `config.unreadable`
 */
export async function migrateConfig({
  home,
  dryRun = false,
}: {
  readonly home: string
  readonly dryRun?: boolean
}): Promise<readonly KeyMove[]> {
  const file = homeLayout(home).config
  const text = await readToEdit(file)
  const yaml = await parseYaml(text)
  const fault = faultOf(file, yaml)
  if (fault) throw new HermesError(`${fault.message} Fix this first; nothing was written.`, { code: 'config.broken' })
  const moves = movesBelow(SCHEMA, yaml.value, [])
  if (dryRun || moves.length === 0) return moves
  const edited = await editYaml(text, (edit) => {
    for (const { from, to } of moves) {
      const old = from.split('.')
      if (to !== null) edit.set(to.split('.'), edit.get(old))
      edit.remove(old)
    }
  })
  await writePrivate(file, edited)
  return moves
}

function movesBelow(field: Field | undefined, value: unknown, path: readonly string[]): readonly KeyMove[] {
  if (!isMap(value)) return []
  if (field?.type === 'record')
    return Object.entries(value).flatMap(([name, item]) => movesBelow(field.of, item, [...path, name]))
  if (field?.type !== 'section') return []
  const { fields, aliases = {} } = field
  return Object.entries(value).flatMap(([name, item]): readonly KeyMove[] => {
    if (Object.hasOwn(fields, name)) return movesBelow(fields[name], item, [...path, name])
    const today = Object.hasOwn(aliases, name) ? aliases[name]! : null
    if (today === null) return []
    const to = Object.hasOwn(value, today) ? null : [...path, today].join('.')
    return [{ from: [...path, name].join('.'), to }]
  })
}
