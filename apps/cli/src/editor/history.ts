import { appendFile, mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import type { Draft } from './editor.js'
import { expandPastes, type Paste } from './pastes.js'

const MAX_LINES = 1000
const MAX_CHARS = 1_000_000
const MAX_LINE_CHARS = 20_000

/** Lines typed in earlier conversations, kept in one file of the home (mode 0600). Failing to keep them never stops anybody. */
export interface History {
  /** Oldest first, each once, the newest 1,000. */
  load(): Promise<readonly Draft[]>
  /** Adds a line; several processes may. Lines beyond 20,000 characters, pastes included, are not kept. */
  add(line: Draft): Promise<void>
}

/** The history in `file`: a line each, a JSON text, or an object where pastes belong to it. */
export function createHistory({ file, logger }: { readonly file: string; readonly logger: Logger }): History {
  const quietly = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        logger.warn('The input history could not be used.', { error: errorLine(error) })
      return otherwise
    }
  }
  return {
    load: () => quietly(() => load(file), []),
    add: (line) => quietly(() => add(file, line), undefined),
  }
}

/** A pipe or a device may wait for ever, to be read and to be written. */
async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null)
  if (found && !found.isFile()) throw new Error(`${file} is not a file`)
}

async function load(file: string): Promise<readonly Draft[]> {
  await requireFile(file)
  const stored = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  const lines = newestOf(stored.flatMap(parse))
  if (stored.length > 2 * MAX_LINES || stored.join('').length > 2 * MAX_CHARS)
    await writePrivate(file, lines.map((line) => `${toJson(line)}\n`).join(''))
  return lines
}

async function add(file: string, line: Draft): Promise<void> {
  if (whole(line).length > MAX_LINE_CHARS) return
  await requireFile(file)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await appendFile(file, `${toJson(line)}\n`, { mode: 0o600 })
}

const whole = ({ text, pastes }: Draft) => expandPastes(text, pastes)
const toJson = (line: Draft) => JSON.stringify(line.pastes.length === 0 ? line.text : line)

/** A line that was cut by a full disk or a kill is left out. */
function parse(stored: string): readonly Draft[] {
  try {
    const line = JSON.parse(stored) as string | { readonly text?: unknown; readonly pastes?: unknown } | null
    if (typeof line === 'string') return line === '' ? [] : [{ text: line, pastes: [] }]
    const { text, pastes } = line ?? {}
    return typeof text === 'string' && Array.isArray(pastes) && pastes.every(isPaste) ? [{ text, pastes }] : []
  } catch {
    return []
  }
}

function isPaste(value: unknown): value is Paste {
  const { placeholder, text } = (value ?? {}) as Partial<Paste>
  return typeof placeholder === 'string' && typeof text === 'string'
}

function newestOf(lines: readonly Draft[]): readonly Draft[] {
  const byText = new Map(lines.toReversed().map((line) => [whole(line), line]))
  const kept = [...byText].slice(0, MAX_LINES)
  let chars = 0
  return kept.flatMap(([text, line]) => ((chars += text.length) <= MAX_CHARS ? [line] : [])).reverse()
}
