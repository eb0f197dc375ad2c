import {
  defaultConfig,
  getConfigValue,
  homeLayout,
  loadConfig,
  migrateConfig,
  unsetConfigValue,
  writtenConfig,
} from '@hermes/config'
import { isJsonObject, nearestName } from '@hermes/contracts'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'
import { hideSecrets } from './config.js'

/** A value with the dotted key it has; lists count as one. */
type Leaf = readonly [key: string, value: unknown]

/** `hermes config show [KEY]`: exit code 1 where the file cannot be read, and then what counts in its place. */
export async function configShow(
  io: Io,
  key: string | undefined,
  { all = false, json = false }: { readonly all?: boolean; readonly json?: boolean },
): Promise<number> {
  const home = homeOf(io)
  const [{ config, problems, own }, { value: written, fault }] = await Promise.all([
    loadConfig({ home, env: io.env }),
    writtenConfig(home),
  ])
  for (const { message } of problems) io.stderr.write(`hermes: ${message}\n`)
  const set = new Set(leaves(written).map(([name]) => name))
  const defaults = new Map(leaves(defaultConfig()).map(([name, value]) => [name, JSON.stringify(value)]))
  const values = [...leaves(config), ...own.flatMap((part) => leaves(part.value, part.key))]
  const isSet = ([name, value]: Leaf) => set.has(name) || defaults.get(name) !== JSON.stringify(value)
  const ofKey = key === undefined ? values : values.filter(([name]) => name === key || name.startsWith(`${key}.`))
  if (key !== undefined && ofKey.length === 0) throw unknown(key, values)
  const shown = all ? ofKey : ofKey.filter(isSet)
  const rows = shown.map(([name, value]) => {
    const text = JSON.stringify(hideSecrets(name, value), hideSecrets)
    const from = isSet([name, value]) ? 'config.yaml' : 'default'
    const cells = [name, text.replace(/^"(.+)"$/, '$1'), ...(all ? [from] : [])]
    return { data: { key: name, value: JSON.parse(text) as unknown, from }, cells }
  })
  if (json) for (const { data } of rows) io.stdout.write(`${JSON.stringify(data)}\n`)
  else io.stdout.write(renderTable({ rows }, io.stdout))
  if (rows.length === 0) io.stderr.write('Nothing is set: defaults count. All of them: hermes config show --all\n')
  return fault === null ? EXIT.ok : EXIT.failed
}

function leaves(value: unknown, path = ''): readonly Leaf[] {
  if (!isJsonObject(value) || (Object.keys(value).length === 0 && path !== ''))
    return value === undefined ? [] : [[path, value]]
  return Object.entries(value).flatMap(([name, item]) => leaves(item, path === '' ? name : `${path}.${name}`))
}

function unknown(key: string, values: readonly Leaf[]): UsageError {
  const names = [...new Set(values.flatMap(([name]) => [name, name.split('.').slice(0, -1).join('.')]))].filter(Boolean)
  const meant = nearestName(key, names)
  return new UsageError(
    `config.yaml has no key "${key}". ${meant === null ? 'All of them: hermes config show --all' : `Did you mean ${meant}?`}`,
  )
}

/** `hermes config unset KEY`. */
export async function configUnset(io: Io, key: string): Promise<number> {
  const home = homeOf(io)
  const { value: before } = await writtenConfig(home)
  await unsetConfigValue({ home, key })
  const { value: after } = await writtenConfig(home)
  const isGone = JSON.stringify(before) !== JSON.stringify(after)
  const now = getConfigValue((await loadConfig({ home, env: io.env })).config, key)
  if (!isGone && now === undefined) throw unknown(key, leaves(defaultConfig()))
  const counts =
    now === undefined ? 'It has no default.' : `Now counts: ${JSON.stringify(hideSecrets(key, now), hideSecrets)}`
  io.stdout.write(`${isGone ? `Took ${key} out.` : `${key} was not set.`} ${counts}\n`)
  return EXIT.ok
}

/** `hermes config env-path`. */
export async function configEnvPath(io: Io): Promise<number> {
  io.stdout.write(`${homeLayout(homeOf(io)).env}\n`)
  return EXIT.ok
}

/** `hermes config migrate`. */
export async function configMigrate(io: Io, { dryRun = false }: { readonly dryRun?: boolean }): Promise<number> {
  const moves = await migrateConfig({ home: homeOf(io), dryRun })
  for (const { from, to } of moves) io.stdout.write(`${from} -> ${to ?? '(gone: its newer name is there too)'}\n`)
  if (moves.length === 0) io.stderr.write('All keys have the names of today.\n')
  else if (dryRun) io.stderr.write('Nothing was written. To write it: hermes config migrate\n')
  return EXIT.ok
}
