import type { AuditFilter, AuditLog, AuditRecord } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'

/** An audit trail under test, and how to get rid of it. */
interface AuditSubject {
  readonly audit: AuditLog
  close?(): Promise<void>
}

const decided = (over: Partial<AuditRecord> = {}): AuditRecord => ({
  atMs: 1_000,
  sessionId: 's',
  surface: 'cli',
  user: 'ada',
  agentPath: ['root'],
  origin: 'model',
  toolName: 'terminal',
  kind: 'spawn',
  action: 'Run ls',
  decision: 'allow',
  rule: 'default',
  approvalId: null,
  by: null,
  ...over,
})

/** Registers the cases that every {@link AuditLog} passes with vitest; `create` makes an empty one for each. */
export function testAuditLog(options: { readonly create: () => Promise<AuditSubject> | AuditSubject }): void {
  const auditCase = (title: string, check: (audit: AuditLog) => Promise<void>) => {
    it(title, async () => {
      const subject = await options.create()
      try {
        await check(subject.audit)
      } finally {
        await subject.close?.()
      }
    })
  }
  describe('AuditLog', () => {
    auditCase('is empty and intact at first', async (audit) => {
      expect(await audit.list()).toEqual([])
      expect(await audit.verify()).toEqual({ type: 'intact', records: 0, pruned: 0, head: null })
    })
    auditCase('gives back what was added, newest first, numbered without gaps', async (audit) => {
      await audit.append([decided(), decided({ atMs: 2_000, toolName: null, user: null })])
      await audit.append([decided({ atMs: 3_000, action: 'Run ünïcode "quoted"' })])
      const listed = await audit.list()
      expect(listed.map(({ seq: _, hash: __, ...record }) => record)).toEqual([
        decided({ atMs: 3_000, action: 'Run ünïcode "quoted"' }),
        decided({ atMs: 2_000, toolName: null, user: null }),
        decided(),
      ])
      expect(listed.map(({ seq }) => seq)).toEqual([3, 2, 1])
      expect(new Set(listed.map(({ hash }) => hash)).size).toBe(3)
    })
    auditCase('stays intact over many additions at once, its head being the newest hash', async (audit) => {
      await Promise.all(Array.from({ length: 20 }, (_, at) => audit.append([decided({ atMs: at }), decided()])))
      const [newest] = await audit.list({ limit: 1 })
      expect(await audit.verify()).toEqual({ type: 'intact', records: 40, pruned: 0, head: newest!.hash })
    })
    auditCase('knows a head noted earlier, and says when there is no such record', async (audit) => {
      await audit.append([decided()])
      const { hash } = (await audit.list())[0]!
      await audit.append([decided()])
      expect(await audit.verify({ head: hash })).toMatchObject({ type: 'intact', records: 2 })
      const wrong = hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
      expect(await audit.verify({ head: wrong })).toMatchObject({
        type: 'broken',
        reason: expect.stringContaining(wrong),
      })
    })
    auditCase('takes old records away on the record, and what stays is verifiable', async (audit) => {
      const record = decided({ atMs: 9_000, kind: 'write', action: 'Prune the audit trail', rule: 'audit-prune' })
      expect(await audit.prune({ beforeMs: 5_000, record })).toBe(0)
      await audit.append([1_000, 2_000, 3_000, 2_500, 4_000].map((atMs) => decided({ atMs })))
      const before = await audit.list()
      expect(await audit.prune({ beforeMs: 1_000, record })).toBe(0)
      // The fourth is old enough, but a younger one stands before it.
      expect(await audit.prune({ beforeMs: 2_600, record })).toBe(2)
      const { hash } = before.find(({ seq }) => seq === 2)!
      expect((await audit.list()).map(({ seq, pruned }) => ({ seq, pruned }))).toEqual([
        { seq: 6, pruned: { upToSeq: 2, hash } },
        ...[5, 4, 3].map((seq) => ({ seq, pruned: undefined })),
      ])
      expect(await audit.verify()).toMatchObject({ type: 'intact', records: 4, pruned: 2 })
      expect(await audit.verify({ head: before[0]!.hash })).toMatchObject({ type: 'intact' })
      expect(await audit.verify({ head: before.at(-1)!.hash })).toMatchObject({
        type: 'broken',
        reason: expect.stringContaining('pruned'),
      })
      expect(await audit.prune({ beforeMs: 10_000, record })).toBe(4)
      await audit.append([decided({ atMs: 11_000 })])
      expect(await audit.verify()).toMatchObject({ type: 'intact', records: 2, pruned: 6 })
    })
    auditCase('narrows by time, session, decision, kind, tool and text', async (audit) => {
      await audit.append([
        decided({ action: 'one' }),
        decided({ atMs: 2_000, action: 'two', sessionId: 'other' }),
        decided({ action: 'three', decision: 'deny', rule: 'Recursive-Delete' }),
        decided({ action: 'four', kind: 'fetch', toolName: 'web' }),
      ])
      const found = async (filter: AuditFilter) => (await audit.list(filter)).map(({ action }) => action)
      expect(await found({ sinceMs: 1_001 })).toEqual(['two'])
      expect(await found({ untilMs: 2_000 })).toEqual(['four', 'three', 'one'])
      expect(await found({ sessionId: 'other' })).toEqual(['two'])
      expect(await found({ decision: 'deny' })).toEqual(['three'])
      expect(await found({ kind: 'fetch' })).toEqual(['four'])
      expect(await found({ toolName: 'web' })).toEqual(['four'])
      expect(await found({ text: 'recursive-d' })).toEqual(['three'])
      expect(await found({ text: '%' })).toEqual([])
      expect(await found({ limit: 2 })).toEqual(['four', 'three'])
    })
  })
}
