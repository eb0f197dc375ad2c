// Kills at chosen steps of an operation, so that each of its phases is hit: steps are what it does to the disk, counted by faults.c.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userText } from '@hermes/contracts/conversation'
import { needs } from '@hermes/testkit/daemons'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { buildFaults, faultsMissing } from './__fixtures__/faults.js'
import { makeFormat } from './__fixtures__/formats.js'
import { startScript } from './__fixtures__/run-writer.js'
import { openBackups, openStorage, type Storage } from './index.js'

/** Of each kind of step, where there are many; `HERMES_TEST_KILLS` for a long run. */
const KILLS = Math.max(1, Math.ceil(Number(process.env['HERMES_TEST_KILLS'] ?? 0) / 20))
const MANY = 20
/** Of an operation that ended before it came to the step it was to be killed in. */
const MOST_RUNS = 4
const TIMEOUT_MS = 60_000 + KILLS * 30_000

needs(faultsMissing())('a kill at each phase', () => {
  let root = ''
  let preload = { LD_PRELOAD: '' }
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'hermes-crash-points-'))
    preload = buildFaults(root)
  })
  afterAll(() => rmSync(root, { recursive: true, maxRetries: 10 }))

  /** Does it to a copy of `template` and gives back what it did to the disk, a line each; the last one was not done if it was killed. */
  const operate = async (operation: string, template: string, kill = '') => {
    const folder = join(root, 'home')
    const log = join(root, 'log')
    for (const path of [folder, log]) rmSync(path, { recursive: true, force: true, maxRetries: 10 })
    cpSync(template, folder, { recursive: true })
    const env = { ...preload, FAULT_FOLDER: folder, FAULT_LOG: log, FAULT_KILL: kill }
    const script = startScript(
      'operate.mjs',
      [operation, join(folder, 'state.db'), join(folder, 'backups'), 'once'],
      env,
    )
    await script.ended
    expect(script.lines).toEqual(script.process.signalCode === 'SIGKILL' ? ['begin'] : ['begin', 'done'])
    return { steps: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [], folder, script }
  }

  /**
   * Kills in each kind of step: in its first, and where there are many in `points` of them spread over it. Every kind is hit, `check` looks
   * at what is left each time; the report says how often each was hit.
   */
  const killEverywhere = async ({
    operation,
    template,
    check,
    annotate,
    points = KILLS,
  }: {
    readonly operation: string
    readonly template: string
    readonly check: (folder: string) => Promise<void> | void
    readonly annotate: TestContext['annotate']
    readonly points?: number
  }) => {
    const { steps, folder } = await operate(operation, template)
    await check(folder)
    const counts = new Map<string, number>()
    for (const kind of steps.map(kindOf)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const hit: string[] = []
    for (const [kind, count] of counts) {
      const kills = count < MANY ? 1 : points
      for (let at = 0; at < kills; at++) {
        const number = 1 + Math.floor((at * count) / kills)
        // What the system does beside it may leave a step out of one run.
        for (let run = 0; run < MOST_RUNS; run++) {
          const killed = await operate(operation, template, `${number} ${kind}`)
          await check(killed.folder)
          if (killed.script.process.signalCode !== 'SIGKILL') continue
          hit.push(kindOf(killed.steps.at(-1)!))
          break
        }
      }
    }
    const times = [...counts.keys()].map((kind) => `${kind} (${hit.filter((one) => one === kind).length})`)
    await annotate(`killed before: ${times.join(', ')}`)
    expect(new Set(hit)).toEqual(new Set(counts.keys()))
    return [...counts.keys()]
  }

  it('of a restore leaves what was there or what was restored', { timeout: TIMEOUT_MS }, async ({ annotate }) => {
    const template = join(root, 'to-restore')
    const path = join(template, 'state.db')
    await fill(path, ['old'], 60)
    await openBackups({ path, directory: join(template, 'backups') }).create()
    await fill(path, ['new'], 60)
    const found = new Set<string>()
    const check = (folder: string) => {
      found.add(sound(join(folder, 'state.db'), (database) => database.prepare(IDS).pluck().all().join()))
      expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([])
    }
    const phases = await killEverywhere({ operation: 'restore', template, check, annotate })
    expect(phases).toEqual(
      expect.arrayContaining([expect.stringMatching(/^write backups\/.*partial/), 'rename backups/state-*db']),
    )
    expect(phases).toEqual(expect.arrayContaining([expect.stringMatching(/^write state\.db/)]))
    expect([...found].sort()).toEqual(['new,old', 'old'])
  })

  it('of pruning leaves each session whole or gone', { timeout: TIMEOUT_MS }, async ({ annotate }) => {
    const template = join(root, 'to-prune')
    const path = join(template, 'state.db')
    const ids = Array.from({ length: 60 }, (_, index) => `s${index}`)
    await fill(path, ids, 50, async (store, id) => store.sessions.update(id, { endedAtMs: 2 }))
    const left = new Set<number>()
    const check = (folder: string) =>
      sound(join(folder, 'state.db'), (database) => {
        const count = (sql: string) => database.prepare(sql).pluck().get() as number
        expect(count(BROKEN)).toBe(0)
        expect(count(ORPHANS)).toBe(0)
        left.add(count('SELECT count(*) FROM sessions'))
      })
    // Enough of them that each of its transactions is hit.
    await killEverywhere({ operation: 'prune', template, check, annotate, points: KILLS + 6 })
    expect(left).toEqual(new Set([60, 40, 20, 0]))
  })

  it('of an upgrade leaves the old schema or the new one, and every row', { timeout: TIMEOUT_MS }, async ({
    annotate,
  }) => {
    const template = join(root, 'to-upgrade')
    mkdirSync(template)
    makeFormat(join(template, 'state.db'), 7, { sessions: 5, messages: 30 })
    const check = async (folder: string) => {
      const store = await openStorage({ path: join(folder, 'state.db') })
      expect(await store.maintenance.check()).toEqual([])
      expect(await store.sessions.list()).toHaveLength(5)
      await store.close()
    }
    await killEverywhere({ operation: 'open', template, check, annotate })
  })

  it('of a backup leaves sound backups and a sound store', { timeout: TIMEOUT_MS }, async ({ annotate }) => {
    const template = join(root, 'to-copy')
    const path = join(template, 'state.db')
    await fill(path, ['s'], 60)
    const check = async (folder: string) => {
      const backups = openBackups({ path: join(folder, 'state.db'), directory: join(folder, 'backups') })
      for (const { name } of await backups.list())
        expect(await backups.verify(name)).toMatchObject({ messages: 60, problems: [] })
      sound(join(folder, 'state.db'), () => undefined)
    }
    await killEverywhere({ operation: 'backup', template, check, annotate })
  })
})

const IDS = 'SELECT id FROM sessions ORDER BY id'
const BROKEN =
  'SELECT count(*) FROM sessions WHERE (SELECT count(*) FROM messages WHERE session_id = sessions.id) <> 50'
const ORPHANS = 'SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)'

/** `write backups/state-20260301-123000.db.partial-77` is of the kind `write backups/state-*db.partial-*`. */
function kindOf(step: string): string {
  return step.replace(/\d[\d.-]*/g, '*')
}

async function fill(
  path: string,
  ids: readonly string[],
  messages: number,
  afterwards: (store: Storage, id: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const store = await openStorage({ path })
  for (const id of ids) {
    await store.sessions.create({ id, source: 'cli' })
    const lease = await store.leases.acquire(id, { owner: 'me' })
    const texts = Array.from({ length: messages }, (_, index) => `line ${index} ${'word '.repeat(100)}`)
    await store.log.append(
      id,
      texts.map((text) => ({ type: 'message', message: userText(text) })),
      { lease, atMs: 1 },
    )
    await afterwards(store, id)
    await lease.release()
  }
  await store.search.find('word', { order: 'relevance' })
  await store.close()
}

function sound<Result>(path: string, look: (database: Database.Database) => Result): Result {
  const database = new Database(path)
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    return look(database)
  } finally {
    database.close()
  }
}
