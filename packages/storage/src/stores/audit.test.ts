import type { AuditRecord } from '@hermes/contracts/policy'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { temporaryPath } from '../__fixtures__/temporary-store.js'
import { openStorage } from '../index.js'

const decided = (action: string): AuditRecord => ({
  atMs: 1_000,
  sessionId: 's',
  surface: 'cli',
  user: null,
  agentPath: ['root'],
  origin: 'model',
  toolName: 'terminal',
  kind: 'spawn',
  action,
  decision: 'deny',
  rule: 'recursive-delete',
  approvalId: null,
  by: null,
})

/** A trail of three records after `meddling` with the file behind the back of the store. */
async function tampered(meddling: string) {
  const path = temporaryPath()
  const store = await openStorage({ path })
  await store.audit.append([decided('one'), decided('two'), decided('three')])
  await store.close()
  const database = new Database(path)
  database.exec(meddling)
  database.close()
  return openStorage({ path })
}

it.each([
  ["UPDATE hermes_audit SET record = replace(record, 'two', 'ten') WHERE seq = 2", 2, 'Its hash does not fit'],
  ["UPDATE hermes_audit SET hash = 'x' WHERE seq = 1", 1, 'Its hash does not fit'],
  ["UPDATE hermes_audit SET decision = 'allow' WHERE seq = 3", 3, 'The columns it is found by were changed.'],
  ['DELETE FROM hermes_audit WHERE seq = 1', 1, 'It is missing.'],
  ['DELETE FROM hermes_audit WHERE seq = 2', 2, 'It is missing.'],
  ['DELETE FROM hermes_audit WHERE seq = 3', 3, 'It is missing, with all that came after it.'],
  ['DELETE FROM hermes_audit', 1, 'It is missing, with all that came after it.'],
  ['DELETE FROM hermes_audit WHERE seq = 2; UPDATE hermes_audit SET seq = 2 WHERE seq = 3', 2, 'Its hash does not fit'],
])('after %j names record %i as the first broken one', async (meddling, seq, reason) => {
  const store = await tampered(meddling)
  expect(await store.audit.verify()).toEqual({ type: 'broken', seq, reason: expect.stringContaining(reason) })
  await store.close()
})

it('takes nothing from a trail with a gap where it would be cut', async () => {
  const store = await tampered('DELETE FROM hermes_audit WHERE seq = 3')
  await expect(store.audit.prune({ beforeMs: 5_000, record: decided('prune') })).rejects.toMatchObject({
    code: 'store.audit_broken',
  })
  expect(await store.audit.list()).toHaveLength(2)
  await store.close()
})

it('finds records that are gone without having been pruned', async () => {
  const path = temporaryPath()
  const store = await openStorage({ path })
  await store.audit.append([decided('one'), decided('two'), decided('three')])
  await store.audit.prune({ beforeMs: 5_000, record: { ...decided('prune'), atMs: 9_000 } })
  await store.audit.append([{ ...decided('four'), atMs: 9_000 }])
  await store.close()
  const database = new Database(path)
  database.exec('DELETE FROM hermes_audit WHERE seq = 4')
  database.close()
  const again = await openStorage({ path })
  expect(await again.audit.verify()).toMatchObject({ type: 'broken', seq: 1 })
  await again.close()
})

it('does not close a gap by what is added later', async () => {
  const store = await tampered('DELETE FROM hermes_audit WHERE seq = 3')
  await store.audit.append([decided('four')])
  expect(await store.audit.list({ limit: 1 })).toMatchObject([{ seq: 4 }])
  expect(await store.audit.verify()).toMatchObject({ type: 'broken', seq: 3 })
  await store.close()
})

it('keeps one chain when two processes write', async () => {
  const path = temporaryPath()
  const [first, second] = await Promise.all([openStorage({ path }), openStorage({ path })])
  for (let turn = 0; turn < 5; turn++) {
    await Promise.all([first.audit.append([decided('a')]), second.audit.append([decided('b'), decided('c')])])
  }
  expect(await first.audit.verify()).toMatchObject({ type: 'intact', records: 15 })
  await Promise.all([first.close(), second.close()])
})

it('forgets expired approvals with the next question', async () => {
  const store = await openStorage({ path: temporaryPath() })
  const question = {
    action: { type: 'send', target: 't' },
    subject: { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false },
    rule: 'send',
    summary: 'Send to t',
    choices: ['once', 'deny'],
  } as const
  const requested = { question, fingerprint: 'f', rules: ['send'], status: 'open', choice: null, by: null } as const
  await store.approvals.put({ ...requested, id: 'old', askedAtMs: 1_000, expiresAtMs: 2_000 })
  await store.approvals.put({ ...requested, id: 'new', askedAtMs: 2_000, expiresAtMs: 3_000 })
  expect((await store.approvals.pending()).map(({ id }) => id)).toEqual(['new'])
  await store.close()
})
