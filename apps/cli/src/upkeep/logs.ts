import { setTimeout as wait } from 'node:timers/promises'
import { homeLayout } from '@hermes/config'
import { nearestName } from '@hermes/contracts'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'
import { createStyle, printable } from '../render/style.js'
import {
  describeLogLine,
  findLogs,
  isWanted,
  type LogFilter,
  type LogLevel,
  type LogLine,
  readLog,
} from './log-lines.js'

/** Flags of `hermes logs`. */
interface LogFlags {
  readonly lines: number
  readonly follow?: boolean
  readonly level?: LogLevel
  readonly since?: string
  readonly session?: string
  readonly text?: string
  readonly json?: boolean
}

const LOOK_EVERY_MS = 250

/** `hermes logs [LOG]`: the newest lines of all logs, by time; with `--follow` until Ctrl-C, which is no failure then. */
export async function logs(io: Io, name: string | undefined, flags: LogFlags): Promise<number> {
  if (!Number.isInteger(flags.lines) || flags.lines < 1)
    throw new UsageError('--lines takes a whole number of at least 1.')
  const folder = homeLayout(homeOf(io)).logs
  const all = await findLogs(folder)
  if (name === 'list') return listLogs(io, all, flags)
  const chosen = choose(all, name)
  const filter = filterOf(flags)
  const show = showLine(io, flags)
  const read = await Promise.all(chosen.map((log) => readLog(log, 'tail')))
  const lines = inOrder(read.flatMap((one) => one.lines)).filter((line) => isWanted(line, filter))
  lines.slice(-flags.lines).forEach(show)
  if (!flags.follow) {
    if (lines.length === 0) io.stderr.write(`Nothing of that is in the logs: ${folder}\n`)
    return EXIT.ok
  }
  return follow(io, { folder, name, ends: new Map(chosen.map(({ file }, at) => [file, read[at]!.end])) }, (line) => {
    if (isWanted(line, filter)) show(line)
  })
}

function choose(all: Awaited<ReturnType<typeof findLogs>>, name: string | undefined) {
  if (name === undefined) return all
  const chosen = all.filter((log) => log.name === name)
  const names = all.map((log) => log.name)
  const meant = nearestName(name, names)
  const hint = meant === null ? `There are: ${names.join(', ') || 'none yet'}.` : `Did you mean ${meant}?`
  if (chosen.length === 0) throw new UsageError(`There is no log "${name}". ${hint}`)
  return chosen
}

function listLogs(io: Io, all: Awaited<ReturnType<typeof findLogs>>, { json }: LogFlags): number {
  if (json) for (const log of all) io.stdout.write(`${JSON.stringify(log)}\n`)
  else
    io.stdout.write(
      renderTable({ rows: all.map(({ name, bytes, file }) => ({ cells: [name, `${bytes} bytes`, file] })) }, io.stdout),
    )
  if (all.length === 0) io.stderr.write('Nothing was logged yet.\n')
  return EXIT.ok
}

const SPAN_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function filterOf({ level, since, session, text }: LogFlags): LogFilter {
  return {
    ...(level === undefined ? {} : { level }),
    ...(since === undefined ? {} : { sinceMs: sinceMs(since) }),
    ...(session === undefined ? {} : { session }),
    ...(text === undefined ? {} : { text }),
  }
}

function sinceMs(since: string): number {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(since) ?? []
  if (count !== undefined) return Date.now() - Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS]
  const date = Date.parse(since)
  if (Number.isNaN(date)) throw new UsageError(`--since takes a span such as 30m, 2h or 3d, or a date, got "${since}".`)
  return date
}

/** Lines without a time stay where they are in their log. */
function inOrder(lines: readonly LogLine[]): readonly LogLine[] {
  let last = 0
  const timed = lines.map((line) => {
    last = line.atMs ?? last
    return { line, at: last }
  })
  return timed.sort((a, b) => a.at - b.at).map(({ line }) => line)
}

function showLine(io: Io, { json }: LogFlags): (line: LogLine) => void {
  const style = createStyle(io.stdout)
  const colour = { info: (text: string) => text, warn: style.yellow, error: style.red }
  return (line) =>
    io.stdout.write(
      json ? `${JSON.stringify(line)}\n` : `${colour[line.level ?? 'info'](printable(describeLogLine(line)))}\n`,
    )
}

async function follow(
  io: Io,
  {
    folder,
    name,
    ends,
  }: { readonly folder: string; readonly name: string | undefined; readonly ends: Map<string, number> },
  show: (line: LogLine) => void,
): Promise<number> {
  const ended = new AbortController()
  const stopListening = io.onInterrupt(() => {
    ended.abort()
    return true
  })
  while (!ended.signal.aborted) {
    await wait(LOOK_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    const logs = (await findLogs(folder)).filter((log) => name === undefined || log.name === name)
    const read = await Promise.all(logs.map((log) => readLog(log, ends.get(log.file) ?? 0)))
    for (const [at, { end }] of read.entries()) ends.set(logs[at]!.file, end)
    inOrder(read.flatMap(({ lines }) => lines)).forEach(show)
  }
  stopListening()
  return EXIT.ok
}
