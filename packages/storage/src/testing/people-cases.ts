import type { NewEntry } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../storage.js'
import type { OpenStore } from './store-case.js'

const CANARIES = 20
/** Ids of chats and names that could break out of a statement or into another name. */
const PEOPLE = [null, 'bob', 'Bob', "telegram:1' OR '1'='1", `group:${'x/\n'.repeat(70)}`] as const

const say = (text: string): NewEntry => ({
  type: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
})

/** The number of whose it is, and of which of their secrets: one word. */
const canary = (whose: number, index: number) => `canary${whose}x${index}`

/** Its words are those of no other failure. */
const failure = (secret: string) => `refused ${secret} a${secret} b${secret}`

async function write(store: Storage, session: Parameters<Storage['sessions']['create']>[0], text: string) {
  await store.sessions.create(session)
  const lease = await store.leases.acquire(session.id, { owner: 'me' })
  await store.log.append(session.id, [say(text)], { lease })
  await lease.release()
}

/** Twenty secrets of each: in sessions, their children and forks, summaries and learnings. */
async function fill(store: Storage): Promise<void> {
  for (const [whose, person] of PEOPLE.entries()) {
    for (let index = 0; index < CANARIES; index++) {
      const secret = `The password is ${canary(whose, index)}.`
      const id = `p${whose}-${index}`
      await write(store, { id, source: 'gateway', person, title: `${whose} ${canary(whose, index)}` }, secret)
      await store.summaries.save({ sessionId: id, text: `About the summary of ${canary(whose, index)}.`, upToSeq: 1 })
      await store.learnings.save({
        person,
        pattern: failure(canary(whose, index)),
        fix: `Use ${canary(whose, index)}.`,
      })
    }
    await write(store, { id: `p${whose}-child`, source: 'subagent', parentSessionId: `p${whose}-0` }, 'A password too.')
    await store.sessions.fork({ id: `p${whose}-fork`, from: `p${whose}-1` })
  }
}

/** What people of one store find of each other: nothing. */
export function peopleCases(open: OpenStore): void {
  describe('people', () => {
    it(`keeps whose a session is, and lets none of ${CANARIES} secrets of one be found by another, by any way`, async () => {
      const store = await open()
      await fill(store)
      for (const [whose, person] of PEOPLE.entries()) {
        // Children and forks are of the same person.
        for (const id of [`p${whose}-0`, `p${whose}-child`, `p${whose}-fork`])
          expect(await store.sessions.get(id), id).toMatchObject({ person })
        const found = JSON.stringify([
          await store.sessions.list({ person, limit: 1_000, includeEmpty: true }),
          await store.sessions.list({ person, source: 'subagent' }),
          await store.sessions.latest({ person }),
          await Promise.all(
            ['password', 'pass*', '*assw*', '"the password"', 'summary', 'passwort number'].flatMap((query) =>
              (['newest', 'relevance'] as const).map((order) =>
                store.search.find(query, { person, order, limit: 100 }),
              ),
            ),
          ),
          await store.summaries.search('summary', { person, limit: 100 }),
          await store.learnings.find({ person, limit: 1_000 }),
          await store.learnings.find({ person, query: 'refused', limit: 1_000 }),
        ])
        const seen = new Set([...found.matchAll(/canary(\d+)x\d+/g)].map(([, number]) => Number(number)))
        expect([...seen], `what ${person} finds`).toEqual([whose])
        expect(new Set(found.match(/canary\d+x\d+/g)).size).toBe(CANARIES)
        const other = (whose + 1) % PEOPLE.length
        for (let index = 0; index < CANARIES; index++) {
          const secret = canary(other, index)
          expect(await store.search.find(secret, { person })).toEqual([])
          expect(await store.summaries.search(secret, { person })).toEqual([])
          expect(await store.learnings.match({ text: failure(secret), tool: 'terminal', person })).toBeNull()
          expect(JSON.stringify(await store.sessions.resolve(`p${other}-${index}`, { person }))).not.toContain(secret)
          expect(await store.sessions.resolve(`${other} ${secret}`, { person })).toMatchObject({ type: 'none' })
        }
      }
      expect(await store.search.find('password', { limit: 100 })).toHaveLength(100)
    })
  })
}
