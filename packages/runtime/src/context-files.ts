import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
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
  for (const path of candidates(options.cwd)) {
    const text = await readText(path)
    if (text !== null && text.trim() !== '') return checked(basename(path), text, options.maxChars)
  }
  return null
}

/** A home's `SOUL.md`, checked and cut like any other context file; `null` when there is none. */
export async function readSoul(path: string, maxChars: number): Promise<string | null> {
  const text = await readText(path)
  return text === null || text.trim() === '' ? null : checked('SOUL.md', text, maxChars).text
}

/** What is there. Asked without waiting: most of it is missing, and a round through the thread pool for each would cost a session's start. */
function candidates(cwd: string): string[] {
  const walked: string[] = []
  for (let directory = cwd; ; directory = dirname(directory)) {
    walked.push(...WALKED.map((name) => join(directory, name)))
    if (directory === dirname(directory) || existsSync(join(directory, '.git'))) break
  }
  return [...walked, ...BESIDE.map((name) => join(cwd, name))].filter((path) => existsSync(path))
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
