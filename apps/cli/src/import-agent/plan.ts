import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import {
  appendPermission,
  homeLayout,
  loadConfig,
  loadPermissions,
  loadSecrets,
  setOwnValue,
  setSecret,
  writtenConfig,
} from '@hermes/config'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { openMemory } from '@hermes/memory'
import { createRedactor } from '@hermes/safety'
import type { ImportItem } from './item.js'
import { hasSecret } from './secrets.js'

/** What would be taken over, and the files of the home that come of it. */
export interface ImportPlan {
  readonly taken: readonly string[]
  /** With the reason. */
  readonly left: readonly (readonly [name: string, why: string])[]
  /** By their paths in the home: what they hold then. */
  readonly files: ReadonlyMap<string, Buffer>
}

const TOUCHED = ['config.yaml', '.env', 'permissions.yaml', 'SOUL.md', 'memories']

/** Takes items over into a copy of the home, with the same checks as by hand, and compares. The home itself is not touched. */
export async function planImport(
  home: string,
  items: readonly ImportItem[],
  { secrets, overwrite, tempDir }: { readonly secrets: boolean; readonly overwrite: boolean; readonly tempDir: string },
): Promise<ImportPlan> {
  const copy = await mkdtemp(join(tempDir, 'hermes-import-'))
  try {
    for (const name of TOUCHED)
      if (await stat(join(home, name)).catch(() => null))
        await cp(join(home, name), join(copy, name), { recursive: true })
    const known = items.flatMap((item) => (item.type === 'secret' ? [item.value] : []))
    const redactor = createRedactor({ secrets: known.filter((secret) => secret.length > 3) })
    const { values } = await loadSecrets({ home: copy, env: {} })
    const taken: string[] = []
    const left: (readonly [string, string])[] = []
    for (const item of withNamesOfTheirOwn(items, values)) {
      const outcome = await take(item, { home, copy, known, secrets, overwrite }).catch((error: unknown) => ({
        why: errorLine(error),
      }))
      if (outcome === null) taken.push(redactor.redact(nameOf(item)))
      else left.push([redactor.redact(nameOf(item)), redactor.redact(outcome.why)])
    }
    return { taken, left, files: await changed(home, copy) }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

function nameOf(item: ImportItem): string {
  switch (item.type) {
    case 'soul':
      return 'SOUL.md'
    case 'memory':
      return `${item.target === 'user' ? 'about you' : 'memory'}: ${item.entry.replace(/\s+/g, ' ')}`
    case 'skill':
      return `skill ${item.name} (${item.files.size} files)`
    case 'setting':
      return `config.yaml: ${item.path.join('.')}${item.path[0] === 'mcp_servers' ? ` (${startOf(item.value)})` : ''}`
    case 'rule':
      return `rule ${item.decision}: ${item.pattern}`
    case 'secret':
      return `secret ${item.name}`
    case 'left':
      return item.name
    default:
      return item satisfies never
  }
}

/**
 * A variable that stands for another value already, in this home or earlier among the items, is not that of a newcomer: it gets a number, in
 * the setting before it too. Otherwise a server could have itself sent what another one logs in with.
 */
function withNamesOfTheirOwn(
  items: readonly ImportItem[],
  there: Readonly<Record<string, string>>,
): readonly ImportItem[] {
  const values = new Map(Object.entries(there))
  const all = [...items]
  let setting = -1
  for (const [at, item] of items.entries()) {
    if (item.type === 'setting') setting = at
    if (item.type !== 'secret') continue
    let name = item.name
    for (let number = 2; values.has(name) && values.get(name) !== item.value; number++) name = `${item.name}_${number}`
    values.set(name, item.value)
    const before = all[setting]
    if (name === item.name || before?.type !== 'setting') continue
    all[at] = { ...item, name }
    const text = JSON.stringify(before.value).replaceAll(`\${${item.name}}`, () => `\${${name}}`)
    all[setting] = { ...before, value: JSON.parse(text) }
  }
  return all
}

/** What a server would be started with, or reached at, and the variables that go to it: what a person has to see before a yes. */
function startOf(entry: unknown): string {
  if (!isJsonObject(entry)) return 'nothing'
  const { command, args, url, cwd, env } = entry
  const set = Object.entries(isJsonObject(env) ? env : {}).filter(([, value]) => !/^\$\{\w+\}$/.test(String(value)))
  const start = [
    ...(cwd === undefined ? [] : [`in ${String(cwd)}:`]),
    ...set.map(([name, value]) => `${name}=${String(value)}`),
    ...[command ?? url, ...(Array.isArray(args) ? args : [])].map(String),
  ].join(' ')
  const names = new Set([...JSON.stringify(entry).matchAll(/\$\{(?:env:)?(\w+)\}/g)].map(([, name]) => name))
  return names.size === 0 ? start : `${start}; gets ${[...names].join(', ')}`
}

interface Taking {
  readonly home: string
  readonly copy: string
  readonly known: readonly string[]
  readonly secrets: boolean
  readonly overwrite: boolean
}

const HELD_BACK = { why: 'a secret is in it: --secrets takes it too' }
const IS_THERE = { why: 'it is there already: --overwrite replaces it' }

/** `null` where it was taken. */
async function take(
  item: ImportItem,
  { home, copy, known, secrets, overwrite }: Taking,
): Promise<{ readonly why: string } | null> {
  const isThere = async (path: string) => !overwrite && (await stat(path).catch(() => null)) !== null
  switch (item.type) {
    case 'left':
      return item
    case 'soul': {
      const file = homeLayout(copy).soul
      if (await isThere(file)) return IS_THERE
      if (hasSecret(item.text, known)) return { why: 'a secret is in it, and it is sent to models' }
      await writePrivate(file, item.text)
      return null
    }
    case 'memory': {
      if (hasSecret(item.entry, known)) return { why: 'a secret is in it, and it is sent to models' }
      const { memory } = (await loadConfig({ home: copy, env: {} })).config
      const limits = { memory: memory.memory_char_limit, user: memory.user_char_limit }
      const store = openMemory({ directory: homeLayout(copy).memories, limits })
      const outcome = await store.change(item.target, [{ action: 'add', content: item.entry }], 'import')
      return outcome.type === 'refused' ? { why: outcome.reason } : null
    }
    case 'skill': {
      if (await isThere(join(homeLayout(home).skills, item.name))) return IS_THERE
      const isKept = [...item.files].every(
        ([path, bytes]) => !/(?:^|\/)\.env/.test(path) && !hasSecret(bytes.toString('latin1'), known),
      )
      if (!isKept && !secrets) return HELD_BACK
      for (const [path, bytes] of item.files) await writePrivate(join(homeLayout(copy).skills, item.name, path), bytes)
      return null
    }
    case 'setting': {
      const { value } = await writtenConfig(copy)
      const there = item.path.reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), value)
      if (there !== undefined && !overwrite) return IS_THERE
      if (hasSecret(JSON.stringify(item.value), known))
        return { why: 'a secret stands in the middle of it: put a variable in its place there' }
      await setOwnValue({ home: copy, path: item.path, value: item.value as object })
      return null
    }
    case 'rule': {
      const { rules } = await loadPermissions({ home: copy })
      if (Object.hasOwn(rules, item.pattern) && !overwrite) return IS_THERE
      if (hasSecret(item.pattern, known)) return HELD_BACK
      await appendPermission({ home: copy, pattern: item.pattern, decision: item.decision })
      return null
    }
    case 'secret': {
      if (!secrets) return { why: 'secrets are taken with --secrets' }
      const { values } = await loadSecrets({ home: copy, env: {} })
      if (Object.hasOwn(values, item.name) && !overwrite) return IS_THERE
      await setSecret({ home: copy, name: item.name, value: item.value })
      return null
    }
    default:
      return item satisfies never
  }
}

async function changed(home: string, copy: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    const path = relative(copy, join(entry.parentPath, entry.name))
    if (!entry.isFile() || path.endsWith('.lock') || path.startsWith('backups')) continue
    const bytes = await readFile(join(copy, path))
    const before = await readFile(join(home, path)).catch(() => null)
    if (before === null || !before.equals(bytes)) files.set(path, bytes)
  }
  return files
}
