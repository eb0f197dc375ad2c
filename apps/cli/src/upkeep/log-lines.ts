import { open, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'

/** One line of a log. A line that another program wrote has neither time nor level. */
export interface LogLine {
  /** `agent`, `gateway` … */
  readonly log: string
  /** Unix milliseconds; `null` where the line says none. */
  readonly atMs: number | null
  readonly level: LogLevel | null
  readonly text: string
  /** What else the line holds. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** How grave a line is. */
export type LogLevel = 'info' | 'warn' | 'error'

/** Which lines; all that is given must hold. Lines without a time or level pass those. */
export interface LogFilter {
  readonly level?: LogLevel
  readonly sinceMs?: number
  /** The start of a session's id. */
  readonly session?: string
  /** Upper and lower case are the same. */
  readonly text?: string
}

/** How much of the end of a file is read: some 50,000 lines. */
const TAIL_BYTES = 8_000_000
/** No date is further from 1970. */
const MAX_DATE_MS = 8.64e15
const GRAVITY: readonly LogLevel[] = ['info', 'warn', 'error']

/** The logs of a folder by name, sorted; none where there is no folder. */
export async function findLogs(
  folder: string,
): Promise<readonly { readonly name: string; readonly file: string; readonly bytes: number }[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.log')).sort()
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name)
      // One that was just rotated away is none.
      const size = await stat(file).then(
        (stats) => stats.size,
        () => null,
      )
      return size === null ? [] : [{ name: basename(name, '.log'), file, bytes: size }]
    }),
  )
  return found.flat()
}

/** Reads a log from a byte on, and where it ends now; a file that became shorter is read from its start. A line that is not ended yet is left. */
export async function readLog(
  log: { readonly name: string; readonly file: string },
  from: number | 'tail',
): Promise<{ readonly lines: readonly LogLine[]; readonly end: number }> {
  const handle = await open(log.file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new HermesError(`Cannot read ${log.file} (${error.code}). Check its permissions.`, {
      code: 'cli.log_unreadable',
    })
  })
  if (handle === null) return { lines: [], end: 0 }
  try {
    const { size } = await handle.stat()
    const wanted = from === 'tail' ? Math.max(0, size - TAIL_BYTES) : from > size ? 0 : from
    const start = Math.max(wanted, size - TAIL_BYTES)
    const buffer = Buffer.alloc(size - start)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
    const whole = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1
    const texts = buffer.toString('utf8', 0, whole).split('\n')
    // The first one may have begun before.
    if (start > 0 && start !== from) texts.shift()
    return { lines: texts.filter((text) => text !== '').map((text) => parseLine(log.name, text)), end: start + whole }
  } finally {
    await handle.close()
  }
}

function parseLine(log: string, line: string): LogLine {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...fields } = parsed(line)
  if (typeof time !== 'number' || Math.abs(time) > MAX_DATE_MS || typeof msg !== 'string')
    return { log, atMs: null, level: null, text: line, fields: {} }
  return { log, atMs: time, level: levelOf(level), text: msg, fields }
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The numbers are those of pino. */
function levelOf(level: unknown): LogLevel {
  return typeof level === 'number' && level >= 50 ? 'error' : level === 40 ? 'warn' : 'info'
}

/** Whether a line is wanted. */
export function isWanted({ atMs, level, text, fields }: LogLine, filter: LogFilter): boolean {
  if (filter.level && level !== null && GRAVITY.indexOf(level) < GRAVITY.indexOf(filter.level)) return false
  if (filter.sinceMs !== undefined && atMs !== null && atMs < filter.sinceMs) return false
  if (filter.session !== undefined && !sessionsOf(fields).some((id) => id.startsWith(filter.session!))) return false
  const all = `${text} ${JSON.stringify(fields)}`.toLowerCase()
  return filter.text === undefined || all.includes(filter.text.toLowerCase())
}

function sessionsOf(fields: LogLine['fields']): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    /session/i.test(name) && typeof value === 'string' ? [value] : [],
  )
}

/** A line for people: time in UTC, level, log, text and fields. */
export function describeLogLine({ log, atMs, level, text, fields }: LogLine): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  if (atMs === null) return text
  const time = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
  return [time, (level ?? 'info').padEnd(5), log, text, ...rest].join('  ').replace(/\s*\n\s*/g, ' | ')
}
