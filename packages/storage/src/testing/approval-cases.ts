import type { Approval, ApprovalStore } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'

/** A store of approvals under test, and how to get rid of it. */
interface ApprovalSubject {
  readonly approvals: ApprovalStore
  close?(): Promise<void>
}

const approval = (id: string, over: Partial<Approval> = {}, sessionId = 's'): Approval => ({
  id,
  question: {
    action: { type: 'spawn', command: 'rm -rf dist', cwd: '/w', backend: 'local' },
    subject: { sessionId, platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false },
    rule: 'recursive-delete',
    summary: 'Run rm -rf dist: it deletes folders',
    choices: ['once', 'deny'],
  },
  fingerprint: 'f',
  rules: ['recursive-delete'],
  askedAtMs: 1_000,
  expiresAtMs: 9_000,
  status: 'open',
  choice: null,
  by: null,
  ...over,
})

/** Registers the cases that every {@link ApprovalStore} passes with vitest; `create` makes an empty one for each. */
export function testApprovalStore(options: {
  readonly create: () => Promise<ApprovalSubject> | ApprovalSubject
}): void {
  const storeCase = (title: string, check: (approvals: ApprovalStore) => Promise<void>) => {
    it(title, async () => {
      const subject = await options.create()
      try {
        await check(subject.approvals)
      } finally {
        await subject.close?.()
      }
    })
  }
  const ids = (approvals: readonly Approval[]) => approvals.map(({ id }) => id)
  describe('ApprovalStore', () => {
    storeCase('is empty at first', async (approvals) => {
      expect(await approvals.get('a')).toBeNull()
      expect(await approvals.pending()).toEqual([])
    })
    storeCase('gives back what was put, replaced by id', async (approvals) => {
      await approvals.put(approval('a'))
      await approvals.put(approval('a', { status: 'parked' }))
      expect(await approvals.get('a')).toEqual(approval('a', { status: 'parked' }))
    })
    storeCase('lists those of one session or of all, oldest first, without used ones', async (approvals) => {
      await approvals.put(approval('a'))
      await approvals.put(approval('b', { askedAtMs: 2_000 }, 'other'))
      await approvals.put(approval('c', { askedAtMs: 3_000 }))
      await approvals.put(approval('d', { askedAtMs: 4_000 }))
      await approvals.put(approval('c', { status: 'used' }))
      expect(ids(await approvals.pending())).toEqual(['a', 'b', 'd'])
      expect(ids(await approvals.pending('s'))).toEqual(['a', 'd'])
    })
    storeCase('lists what was delegated with the session at the root', async (approvals) => {
      const { question } = approval('a')
      const subject = { ...question.subject, sessionId: 'child', rootSessionId: 's' }
      await approvals.put(approval('a', { question: { ...question, subject } }))
      expect([ids(await approvals.pending('s')), ids(await approvals.pending('child'))]).toEqual([['a'], []])
    })
    storeCase('keeps the first answer to a question that is there', async (approvals) => {
      const answered = (choice: 'once' | 'deny', by: string) => approval('a', { status: 'answered', choice, by })
      expect(await approvals.put(answered('once', 'nobody asked'))).toBe(false)
      expect(await approvals.put(approval('a'))).toBe(true)
      const kept = await Promise.all([approvals.put(answered('deny', 'ada')), approvals.put(answered('once', 'bob'))])
      expect(kept.filter(Boolean)).toHaveLength(1)
      expect((await approvals.get('a'))?.by).toBe(kept[0] ? 'ada' : 'bob')
      await approvals.put(approval('a', { status: 'used' }))
      expect(await approvals.put(answered('once', 'late'))).toBe(false)
      expect(await approvals.get('a')).toBeNull()
    })
    storeCase('lets nothing undo an answer but its use', async (approvals) => {
      const answered = approval('a', { status: 'answered', choice: 'once', by: 'ada' })
      await approvals.put(approval('a'))
      await approvals.put(answered)
      await approvals.put(approval('a', { status: 'parked' }))
      await approvals.put(approval('a'))
      expect(await approvals.get('a')).toEqual(answered)
      await approvals.put({ ...answered, status: 'used' })
      expect(await approvals.pending()).toEqual([])
    })
  })
}
