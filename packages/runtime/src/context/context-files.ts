import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ContextFile, cutHeadTail } from '@hermes/agent-core'
import { errorLine } from '@hermes/contracts'
import { isSecretPath, isWithin } from '@hermes/safety'

const WALKED = ['.hermes.md', 'HERMES.md']
const BESIDE = ['AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules']
const RULES = join('.cursor', 'rules')
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/
/** Of larger files only the beginning and the end are read. */
const WHOLE_BYTES = 1_000_000
const BYTES_PER_CHAR = 4
const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o002

/** The instructions that were found, and what was wrong on the way, one line each. */
interface FoundContext {
  readonly file: ContextFile | null
  readonly problems: readonly string[]
}

/**
 * The project's own instructions for agents: the first of `.hermes.md` or `HERMES.md`, then of `AGENTS.md`, `CLAUDE.md` or `.cursorrules`
 * (each here, then up to the repository root), then `.cursor/rules/*.mdc` (here only). Text that tries to take over the agent is replaced by a line that says
 * so; what cannot be read, is no text or is a link out of the project is left out, and the next one counts. Whoever made the project may
 * have made the link, and nobody is asked before this is read. With `maxChars` 0 nothing is looked for. @see 001 section 12.8
 */
export async function findContextFile(options: {
  readonly cwd: string
  readonly maxChars: number
}): Promise<FoundContext> {
  const problems: string[] = []
  if (options.maxChars === 0) return { file: null, problems }
  const { paths, root } = candidates(options.cwd)
  for (const path of paths) {
    const text = leadsAway(path, [root, dirname(path)], problems)
      ? null
      : await readText(path, options.maxChars, problems)
    if (text !== null) return { file: await checked(path, text, { ...options, problems }), problems }
  }
  const rules = await cursorRules({ ...options, root }, problems)
  const file = rules === null ? null : await checked(join(options.cwd, RULES), rules, { ...options, problems })
  return { file, problems }
}

/** A home's `SOUL.md`, checked and cut like any other context file. */
export async function readSoul(path: string, maxChars: number): Promise<FoundContext> {
  const problems: string[] = []
  if (maxChars === 0 || !lstatSync(path, { throwIfNoEntry: false })) return { file: null, problems }
  const text = await readText(path, maxChars, problems)
  return { file: text === null ? null : await checked(path, text, { maxChars, problems }), problems }
}

interface Candidates {
  readonly paths: readonly string[]
  /** The root of the repository; without one, where the agent works. */
  readonly root: string
}

/** What is there. Asked without waiting: most of it is missing, and a round through the thread pool for each would cost a session's start. */
function candidates(cwd: string): Candidates {
  const folders: string[] = []
  const inAll = (names: readonly string[], places: readonly string[]) =>
    places.flatMap((folder) => names.map((name) => join(folder, name)))
  const found = (root: string, beside: readonly string[]): Candidates => ({
    paths: [...inAll(WALKED, folders), ...inAll(BESIDE, beside)].filter(isThere),
    root,
  })
  for (let directory = cwd; directory === cwd || !isShared(directory); directory = dirname(directory)) {
    folders.push(directory)
    if (isThere(join(directory, '.git'))) return found(directory, folders)
    if (directory === dirname(directory)) break
  }
  // Without a repository nobody says that what lies above belongs to the same project.
  return found(cwd, [cwd])
}

/** A folder such as `/tmp`, where everybody puts files: what lies there belongs to no project. */
function isShared(directory: string): boolean {
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}

/** Whether links lead from `path` to a place outside `folders`, or to a file of keys. */
function leadsAway(path: string, folders: readonly string[], problems: string[]): boolean {
  try {
    const real = realpathSync(path)
    const isInside = folders.some((folder) => isWithin(real, realpathSync(folder)))
    const isLink = real !== join(realpathSync(dirname(path)), basename(path))
    if (isInside && !(isLink && isSecretPath(real))) return false
    problems.push(
      `${path} was left out: it is a link ${isInside ? 'to a file of keys' : 'that leads out of the project'}.`,
    )
    return true
  } catch {
    // Reading it will say why.
    return false
  }
}

/** Also for a link that leads nowhere, which is worth a word. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

async function cursorRules(
  { cwd, root, maxChars }: { readonly cwd: string; readonly root: string; readonly maxChars: number },
  problems: string[],
): Promise<string | null> {
  const folder = join(cwd, RULES)
  if (!isThere(folder) || leadsAway(folder, [root], problems)) return null
  const texts: string[] = []
  try {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name)
      const isRule = name.endsWith('.mdc') && !leadsAway(path, [root], problems)
      const text = isRule ? await readText(path, maxChars, problems) : null
      if (text !== null) texts.push(text.replace(FRONT_MATTER, '').trim())
    }
  } catch (error) {
    problems.push(`${folder} cannot be read: ${errorLine(error)}.`)
  }
  return texts.length === 0 ? null : texts.join('\n\n')
}

/** The text of a file; `null` when it is empty, or is none, which `problems` then tells. Never rejects. */
async function readText(path: string, maxChars: number, problems: string[]): Promise<string | null> {
  try {
    const stat = statSync(path)
    const reason = whyNoText(stat)
    const bytes = reason === null ? await readSome(path, stat.size, maxChars * BYTES_PER_CHAR) : null
    const isText = bytes !== null && !bytes.includes(0) && isUtf8(bytes)
    if (isText && stat.size > WHOLE_BYTES)
      problems.push(`${path} has ${stat.size} bytes; only its beginning and end are used.`)
    if (!isText) problems.push(`${path} was left out: ${reason ?? 'it is no text'}.`)
    const text = isText ? bytes.toString('utf8').replace(/^\uFEFF/, '') : ''
    return text.trim() === '' ? null : text
  } catch (error) {
    problems.push(`${path} was left out, it cannot be read: ${errorLine(error)}.`)
    return null
  }
}

function whyNoText(stat: Stats): string | null {
  if (stat.isFile()) return null
  return stat.isDirectory() ? 'it is a folder' : 'it is a device, pipe or socket'
}

async function readSome(path: string, size: number, edgeBytes: number): Promise<Buffer> {
  if (size <= WHOLE_BYTES) return readFile(path)
  await using file = await open(path)
  const edge = Math.min(edgeBytes, WHOLE_BYTES / 2)
  const [head, tail] = [Buffer.alloc(edge), Buffer.alloc(edge)]
  await file.read(head, 0, edge, 0)
  await file.read(tail, 0, edge, size - edge)
  return Buffer.concat([wholeLines(head, 'end'), Buffer.from('[…]\n'), wholeLines(tail, 'start')])
}

/** Without the line that was cut, so that no character is cut either. */
function wholeLines(bytes: Buffer, cut: 'start' | 'end'): Buffer {
  if (cut === 'end') return bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
  return bytes.subarray(bytes.indexOf('\n') + 1)
}

async function checked(
  path: string,
  text: string,
  { maxChars, problems }: { readonly maxChars: number; readonly problems: string[] },
): Promise<ContextFile> {
  const name = basename(path)
  const { blockedContext, scanContext } = await import('@hermes/safety/scan')
  const findings = scanContext(text)
  if (findings.length === 0) return { name, path, text: cutHeadTail(text, maxChars) }
  const rules = findings.map(({ rule, line }) => `${rule} in line ${line}`).join(', ')
  problems.push(`${path} was left out, it may try to take over the agent: ${rules}.`)
  return { name, path, text: blockedContext(name, findings) }
}
