import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ContextFile, cutHeadTail } from '@hermes/agent-core'
import { errorLine } from '@hermes/contracts'

const WALKED = ['.hermes.md', 'HERMES.md']
const BESIDE = ['AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules']
const RULES = join('.cursor', 'rules')
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/
/** Of larger files only the beginning and the end are read. */
const WHOLE_BYTES = 1_000_000
const BYTES_PER_CHAR = 4

/** The instructions that were found, and what was wrong on the way, one line each. */
export interface FoundContext {
  readonly file: ContextFile | null
  readonly problems: readonly string[]
}

/**
 * The project's own instructions for agents: the first of `.hermes.md` or `HERMES.md` (here, then up to the repository root), `AGENTS.md`,
 * `CLAUDE.md`, `.cursorrules`, `.cursor/rules/*.mdc` (here only). Text that tries to take over the agent is replaced by a line that says
 * so; what cannot be read or is no text is left out, and the next one counts. @see 001 section 12.8
 */
export async function findContextFile(options: {
  readonly cwd: string
  readonly maxChars: number
}): Promise<FoundContext> {
  const problems: string[] = []
  for (const path of candidates(options.cwd)) {
    const text = await readText(path, options.maxChars, problems)
    if (text !== null) return { file: await checked(path, text, { ...options, problems }), problems }
  }
  const rules = await cursorRules(options, problems)
  const file = rules === null ? null : await checked(join(options.cwd, RULES), rules, { ...options, problems })
  return { file, problems }
}

/** A home's `SOUL.md`, checked and cut like any other context file. */
export async function readSoul(path: string, maxChars: number): Promise<FoundContext> {
  const problems: string[] = []
  if (!lstatSync(path, { throwIfNoEntry: false })) return { file: null, problems }
  const text = await readText(path, maxChars, problems)
  return { file: text === null ? null : await checked(path, text, { maxChars, problems }), problems }
}

/** What is there. Asked without waiting: most of it is missing, and a round through the thread pool for each would cost a session's start. */
function candidates(cwd: string): string[] {
  const walked: string[] = []
  for (let directory = cwd; ; directory = dirname(directory)) {
    walked.push(...WALKED.map((name) => join(directory, name)))
    if (directory === dirname(directory) || isThere(join(directory, '.git'))) break
  }
  return [...walked, ...BESIDE.map((name) => join(cwd, name))].filter(isThere)
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
  { cwd, maxChars }: { readonly cwd: string; readonly maxChars: number },
  problems: string[],
): Promise<string | null> {
  const folder = join(cwd, RULES)
  if (!isThere(folder)) return null
  const texts: string[] = []
  try {
    for (const name of readdirSync(folder).sort()) {
      const text = name.endsWith('.mdc') ? await readText(join(folder, name), maxChars, problems) : null
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
