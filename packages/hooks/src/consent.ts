// A person's yes to a hook, bound to what it would run: its command and every file the command names.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import type { HookDeclaration } from './declarations.js'
import { splitWords } from './split-words.js'

/** `changed`: a person agreed to it, and the command's files are others now. */
export type ConsentState = 'agreed' | 'changed' | 'unknown'

/** Where words of a command point to. Absolute. */
interface HookPlaces {
  readonly userHome: string
  /** The hook's project, else where its session works. */
  readonly folder: string
}

/** The consents of a home. */
interface Consents {
  state(hook: HookDeclaration, places: HookPlaces): Promise<ConsentState>
  /** Keeps a yes for the hook as it is now. */
  agree(hooks: readonly HookDeclaration[], places: HookPlaces): Promise<void>
  /** Takes them back; how many there were. */
  revoke(isMeant: (entry: { readonly event: string; readonly command: string }) => boolean): Promise<number>
}

interface Entry {
  readonly event: string
  readonly command: string
  readonly project: string | null
  readonly sha256: string
}

const MAX_BYTES = 20_000_000

/**
 * The consents kept in `file`. Entries of other programs, which bind a command alone, are kept and count for nothing: what they agreed to may
 * have changed since.
 */
export function openConsents(file: string): Consents {
  const change = <T>(edit: (entries: readonly unknown[]) => readonly [readonly unknown[], T]) =>
    withLock(`${file}.lock`, { busy: `Another process writes ${file}; try again.` }, async () => {
      const [entries, result] = edit(await readAll(file))
      await writePrivate(file, `${JSON.stringify({ approvals: entries }, null, 2)}\n`)
      return result
    })
  return {
    state: async (hook, places) => {
      const known = (await readAll(file)).filter(isEntry).filter((entry) => isOf(entry, hook))
      if (known.length === 0) return 'unknown'
      const sha256 = await hookDigest(hook, places)
      return known.some((entry) => entry.sha256 === sha256) ? 'agreed' : 'changed'
    },
    agree: async (hooks, places) => {
      const added = await Promise.all(
        hooks.map(async (hook) => ({
          event: hook.event,
          command: hook.command,
          project: hook.project,
          sha256: await hookDigest(hook, places),
        })),
      )
      await change((entries) => {
        const others = entries.filter((entry) => !(isEntry(entry) && hooks.some((hook) => isOf(entry, hook))))
        return [[...others, ...added], undefined]
      })
    },
    revoke: async (isMeant) => {
      const isGone = (entry: unknown) => isEntry(entry) && isMeant(entry)
      if (!(await readAll(file)).some(isGone)) return 0
      return change((entries) => {
        const kept = entries.filter((entry) => !isGone(entry))
        return [kept, entries.length - kept.length]
      })
    },
  }
}

/** SHA-256 over what a hook runs: its form, event and command, and what the files hold that its command names. */
async function hookDigest(hook: HookDeclaration, places: HookPlaces): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([hook.form, hook.event, hook.command, hook.project, ...(hook.shell ? [hook.shell] : [])]),
  )
  for (const path of commandFiles(hook, places)) {
    const info = await stat(path, { bigint: true }).catch(() => null)
    if (!info?.isFile()) continue
    hash.update(`\0${path}\0`)
    if (info.size > BigInt(MAX_BYTES)) hash.update(`${info.size} ${info.mtimeNs} ${info.ctimeNs}`)
    else hash.update(await readFile(path).catch(() => `unreadable ${Math.random()}`))
  }
  return hash.digest('hex')
}

/** The paths that words of a command may be: `sh guard` names a file as `./guard` does. Programs of `PATH` are not among them. */
function commandFiles({ command, variables }: HookDeclaration, { userHome, folder }: HookPlaces): readonly string[] {
  const values: Readonly<Record<string, string>> = {
    ...{ CLAUDE_PROJECT_DIR: folder, HERMES_PROJECT_DIR: folder, PWD: folder, HOME: userHome },
    ...variables,
  }
  const known = command.replaceAll(/\$\{?(\w+)\}?/g, (written, name: string) => values[name] ?? written)
  const words = splitWords(known).flatMap((word) => [word, ...word.split(/[\s=;|&()<>"'`]/)])
  const paths = words.filter((word) => word !== '').map((word) => word.replace(/^~(?=\/|$)/, () => userHome))
  return [...new Set(paths.map((path) => (isAbsolute(path) ? path : join(folder, path))))].sort()
}

const isOf = (entry: Entry, hook: HookDeclaration) =>
  entry.event === hook.event && entry.command === hook.command && entry.project === hook.project

async function readAll(file: string): Promise<readonly unknown[]> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    const value: unknown = JSON.parse(text)
    const approvals = isJsonObject(value) ? value['approvals'] : null
    return Array.isArray(approvals) ? approvals : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is Entry {
  if (!isJsonObject(value)) return false
  const { event, command, project, sha256 } = value
  return (
    typeof event === 'string' &&
    typeof command === 'string' &&
    (project === null || typeof project === 'string') &&
    typeof sha256 === 'string'
  )
}
