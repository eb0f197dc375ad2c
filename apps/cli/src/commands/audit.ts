import type { AuditEntry, AuditFilter, AuditRecord } from '@hermes/contracts/policy'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { clip, createStyle, printable, type Style } from '../render/style.js'

/** Flags of `hermes audit list`. */
interface AuditFlags extends Pick<AuditFilter, 'decision' | 'kind' | 'text'> {
  readonly limit: number
  readonly days?: number
  readonly session?: string
  readonly tool?: string
  readonly json?: boolean
}

const DAY_MS = 86_400_000

/** `hermes audit list`: the newest decisions, oldest of them first. */
export function auditList(io: Io, { limit, days, session, tool, json, ...more }: AuditFlags): Promise<number> {
  for (const [flag, value] of [
    ['limit', limit],
    ['days', days],
  ])
    if (value !== undefined && !(Number.isInteger(value) && Number(value) > 0))
      throw new UsageError(`--${flag} takes a whole number of at least 1.`)
  return withStorage(io, async (storage) => {
    const found = session === undefined ? null : await storage.sessions.resolve(session)
    // Decisions outlive the session they were taken in.
    const sessionId = found?.type === 'found' ? found.session.id : session
    const entries = await storage.audit.list({
      ...more,
      limit,
      ...(days === undefined ? {} : { sinceMs: Date.now() - days * DAY_MS }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(tool === undefined ? {} : { toolName: tool }),
    })
    const style = createStyle(io.stdout)
    if (entries.length === 0 && !json) io.stderr.write('No such decision was written down.\n')
    for (const entry of entries.toReversed())
      io.stdout.write(json ? `${JSON.stringify(entry)}\n` : lines(entry, style, io.stdout.columns()))
    return EXIT.ok
  })
}

function lines(entry: AuditEntry, style: Style, columns: number): string {
  const { seq, atMs, decision, action, rule, sessionId, surface, user, toolName, by, agentPath } = entry
  const when = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
  const color = { allow: style.green, ask: style.yellow, parked: style.yellow, deny: style.red }[decision]
  const head = `#${seq}  ${when}  ${decision.padEnd(6)}  `
  const facts = [
    `by ${rule}`,
    ...(by === null ? [] : [`answered by ${by}`]),
    ...(toolName === null ? [] : [`tool ${toolName}`]),
    `${user ?? 'somebody'} on ${surface}`,
    ...(agentPath.length > 1 ? [agentPath.join('/')] : []),
    `session ${sessionId}`,
  ]
  const first = `#${seq}  ${style.dim(when)}  ${color(decision.padEnd(6))}  `
  return `${first}${clip(action, Math.max(columns - head.length, 20))}\n    ${style.dim(printable(facts.join('; ')))}\n`
}

/** `hermes audit verify`: whether the whole trail is what was written. */
export function auditVerify(
  io: Io,
  { head, json }: { readonly head?: string; readonly json?: boolean },
): Promise<number> {
  return withStorage(io, async (storage) => {
    const check = await storage.audit.verify(head === undefined ? {} : { head })
    if (json) io.stdout.write(`${JSON.stringify(check)}\n`)
    else if (check.type === 'broken') io.stdout.write(`Broken at record #${check.seq}. ${check.reason}\n`)
    else {
      const note =
        check.head === null
          ? ''
          : `\nHead ${check.head}: keep it elsewhere, and verify --head finds a trail that was rewritten.`
      const gone = check.pruned === 0 ? '' : `, ${check.pruned} older ones pruned on the record`
      io.stdout.write(`Intact: ${check.records} records${gone}.${note}\n`)
    }
    return check.type === 'intact' ? EXIT.ok : EXIT.failed
  })
}

/** `hermes audit prune`: takes old records away; what stays is verifiable, and says what went. */
export function auditPrune(io: Io, { days, yes }: { readonly days: number; readonly yes?: boolean }): Promise<number> {
  if (!(Number.isInteger(days) && days > 0)) throw new UsageError('--days takes a whole number of at least 1.')
  return withStorage(io, async ({ audit }) => {
    const check = await audit.verify()
    if (check.type === 'broken')
      throw new UsageError(
        `The trail is broken at record #${check.seq}, so nothing of it is taken away. ${check.reason}`,
      )
    const nowMs = Date.now()
    const beforeMs = nowMs - days * DAY_MS
    const due = await audit.list({ untilMs: beforeMs, limit: 1 })
    if (
      due.length > 0 &&
      !yes &&
      !(await confirm(io, `Delete decisions older than ${days} days?`, 'yes, delete them'))
    ) {
      io.stderr.write('Nothing was deleted.\n')
      return EXIT.failed
    }
    const record: AuditRecord = {
      atMs: nowMs,
      sessionId: '',
      surface: 'cli',
      user: io.user,
      agentPath: [],
      origin: 'operator',
      toolName: null,
      kind: 'write',
      action: `Prune the audit trail: records older than ${days} days`,
      decision: 'allow',
      rule: 'audit-prune',
      approvalId: null,
      by: io.user,
    }
    io.stdout.write(`Deleted ${await audit.prune({ beforeMs, record })} decisions.\n`)
    return EXIT.ok
  })
}
