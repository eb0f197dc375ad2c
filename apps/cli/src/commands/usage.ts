import { knownTimeZone } from '@hermes/contracts'
import type { UsageGroup, UsageTotal } from '@hermes/contracts/store'
import { periodOf } from '@hermes/models/spending'
import type { Storage } from '@hermes/storage'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { createStyle } from '../render/style.js'
import { renderUsage } from '../usage/report.js'

/** Flags of `hermes usage`. */
interface UsageFlags {
  readonly by: UsageGroup
  readonly days: number
  readonly session?: string
  readonly json?: boolean
}

const DAY_MS = 86_400_000

/** `hermes usage`: calls, tokens and money of the last days, as a table with bars or as JSON. */
export async function usage(io: Io, { by, days, session, json }: UsageFlags): Promise<number> {
  if (!Number.isInteger(days) || days < 1) throw new UsageError('--days takes a whole number of at least 1.')
  const runtime = await openCli(io, { yolo: false })
  try {
    const storage = await runtime.storage()
    const timeZone = knownTimeZone(runtime.config.timezone)
    const sinceMs = periodOf('day', Date.now() - (days - 1) * DAY_MS, timeZone).startMs
    const filter = { sinceMs, ...(session === undefined ? {} : { sessionId: await sessionId(storage, session) }) }
    const [rows, [total]] = await Promise.all([
      storage.usage.totals({ ...filter, by, timeZone }),
      storage.usage.totals(filter),
    ])
    if (json) io.stdout.write(`${JSON.stringify({ by, days, sinceMs, timeZone, rows, total })}\n`)
    else if (rows.length === 0) io.stderr.write(`No model was called in the last ${days} days.\n`)
    else io.stdout.write(await table(io, storage, { by, days, rows, total: total! }))
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

interface Report {
  readonly by: UsageGroup
  readonly days: number
  readonly rows: readonly UsageTotal[]
  readonly total: UsageTotal
}

async function table(io: Io, storage: Storage, { by, days, rows, total }: Report): Promise<string> {
  const style = createStyle(io.stdout)
  const title = `Usage of the last ${days === 1 ? 'day' : `${days} days`}, by ${by}`
  const sorted = by === 'day' ? rows : [...rows].sort((left, right) => right.knownCostUsd - left.knownCostUsd)
  const named = by === 'session' ? await Promise.all(sorted.map((row) => withTitle(storage, row))) : sorted
  return renderUsage({ title, group: by, rows: named, total }, style, io.stdout.columns())
}

async function withTitle(storage: Storage, row: UsageTotal): Promise<UsageTotal> {
  const title = row.key === '' ? null : (await storage.sessions.get(row.key))?.title
  return title ? { ...row, key: `${row.key} ${title}` } : row
}

async function sessionId(storage: Storage, text: string): Promise<string> {
  const found = await storage.sessions.resolve(text)
  // What was spent in a session outlives it.
  return found.type === 'found' ? found.session.id : text
}
