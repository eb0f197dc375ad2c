import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ContextFile } from '@hermes/agent-core'
import { blockedContext, scanContext } from '@hermes/safety'

const HEAD_SHARE = 0.7
const TAIL_SHARE = 0.2
const WALKED = ['.hermes.md', 'HERMES.md']
const BESIDE = ['AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules']

/**
 * The project's own instructions for agents: the first of `.hermes.md` or `HERMES.md` (here, then up to the repository root), `AGENTS.md`,
 * `CLAUDE.md`, `.cursorrules` (here only). `null` when there is none. Text that tries to take over the agent is replaced by a line that says so.
 */
export async function findContextFile(options: {
  readonly cwd: string
  readonly maxChars: number
}): Promise<ContextFile | null> {
  // Side by side: most are missing, and one after another they would hold up a session's first request.
  const paths = await candidates(options.cwd)
  const texts = await Promise.all(paths.map(readText))
  const at = texts.findIndex((text) => text !== null && text.trim() !== '')
  return at < 0 ? null : checked(basename(paths[at]!), texts[at]!, options.maxChars)
}

/** A home's `SOUL.md`, checked and cut like any other context file; `null` when there is none. */
export async function readSoul(path: string, maxChars: number): Promise<string | null> {
  const text = await readText(path)
  return text === null || text.trim() === '' ? null : checked('SOUL.md', text, maxChars).text
}

async function candidates(cwd: string): Promise<string[]> {
  const directories = [cwd]
  for (let at = cwd; at !== dirname(at); at = dirname(at)) directories.push(dirname(at))
  const isRoot = await Promise.all(directories.map((directory) => exists(join(directory, '.git'))))
  const walked = directories.slice(0, isRoot.includes(true) ? isRoot.indexOf(true) + 1 : undefined)
  return [
    ...walked.flatMap((directory) => WALKED.map((name) => join(directory, name))),
    ...BESIDE.map((name) => join(cwd, name)),
  ]
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return null
  }
}

function checked(name: string, text: string, maxChars: number): ContextFile {
  const findings = scanContext(text)
  return { name, text: findings.length > 0 ? blockedContext(name, findings) : shorten(text, maxChars) }
}

function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE)).toWellFormed()
  const tail = text.slice(text.length - Math.floor(maxChars * TAIL_SHARE)).toWellFormed()
  return `${head}\n\n[… ${text.length - head.length - tail.length} characters left out; read the file for the rest …]\n\n${tail}`
}
