import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFakeClock } from '@hermes/testkit'
import { describe, expect, it, vi } from 'vitest'
import { fillWorkspace, stateOf, type TestPlace, testPlace } from './__fixtures__/workspace.js'
import { type CheckpointLimits, createCheckpoints, workspaceRoot } from './index.js'

const DAY_MS = 86_400_000
const MANUAL = { kind: 'manual', reason: 'test' } as const

function open(place: TestPlace, limits: Partial<CheckpointLimits> = {}) {
  return createCheckpoints({ directory: place.directory, limits })
}

/** Bytes that do not get smaller. */
function noise(bytes: number, seed: number): Buffer {
  let state = seed + 1
  return Buffer.from(Array.from({ length: bytes }, () => (state = (state * 48_271) % 2_147_483_647) & 255))
}

/** Until the times of what was just changed tell it from any later change. */
async function aMoment(): Promise<void> {
  const fromMs = Date.now()
  await vi.waitFor(() => expect(Date.now() - fromMs).toBeGreaterThan(60), { interval: 5 })
}

const storesIn = ({ directory }: TestPlace) => readdirSync(directory).filter((name) => !name.endsWith('.lock'))

describe('take', () => {
  it('keeps nothing that others can read', async () => {
    using place = testPlace()
    fillWorkspace(place)
    await open(place).take(place.root, MANUAL)
    const modes = (folder: string): number[] =>
      readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name)
        return [statSync(path).mode & 0o777, ...(entry.isDirectory() ? modes(path) : [])]
      })
    expect(new Set([statSync(place.directory).mode & 0o777, ...modes(place.directory)])).toEqual(
      new Set([0o700, 0o600]),
    )
  })

  it('leaves the git state of the workspace alone', async () => {
    using place = testPlace()
    fillWorkspace(place)
    const status = () => [place.output('git status --porcelain=v2 --branch'), stateOf(join(place.root, '.git'))]
    const before = status()
    await open(place).take(place.root, MANUAL)
    expect(status()).toEqual(before)
  })

  it('stores the same content once, and next to nothing when nothing changed', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    for (const name of ['a', 'b', 'c']) writeFileSync(join(place.root, name), noise(100_000, 1))
    await checkpoints.take(place.root, MANUAL)
    const { sizeBytes } = checkpoints.workspaces()[0]!
    expect(sizeBytes).toBeLessThan(110_000)
    await checkpoints.take(place.root, MANUAL)
    expect(checkpoints.workspaces()[0]!.sizeBytes - sizeBytes).toBeLessThan(1_000)
  })

  it('finds the same as a first look would, whatever came, went or moved since the last one', async () => {
    using place = testPlace()
    fillWorkspace(place)
    const checkpoints = open(place)
    const fresh = (number: number) =>
      createCheckpoints({ directory: `${place.directory}-${number}` }).take(place.root, MANUAL)
    const changes = [
      'echo new > src/new.ts',
      'mv src/new.ts src/newer.ts && rm README.md',
      'mkdir -p src/made/within && echo x > src/made/within/x',
      'mv src/made src/moved && chmod 700 src/moved && echo y >> src/moved/within/x',
      'cp src/main.ts a && cp a b && mv b src/main.ts && mv src/moved/within/x src/moved/x',
      'rm -rf src/moved && ln -s deep src/moved && rm -rf empty && touch empty',
      'mv src/deep src/other && mkdir src/deep && echo z > src/deep/z && touch CACHEDIR.TAG data/CACHEDIR.TAG',
    ]
    await checkpoints.take(place.root, MANUAL)
    for (const [number, change] of changes.entries()) {
      place.run(change)
      await aMoment()
      const { tree } = await checkpoints.take(place.root, MANUAL)
      expect(tree, change).toBe((await fresh(number)).tree)
      expect((await checkpoints.take(place.root, MANUAL)).tree, change).toBe(tree)
    }
  })

  it('sees a change that keeps size and times', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    writeFileSync(join(place.root, 'a'), 'one')
    const first = await checkpoints.take(place.root, MANUAL)
    place.run('touch -r a ref && printf two > a && touch -r ref a && rm ref')
    const second = await checkpoints.take(place.root, MANUAL)
    expect(second.tree).not.toBe(first.tree)
    expect(Buffer.from((await checkpoints.read(place.root, '2', 'a'))!).toString()).toBe('two')
    expect(Buffer.from((await checkpoints.read(place.root, '1', 'a'))!).toString()).toBe('one')
    expect(await checkpoints.read(place.root, '1', 'b')).toBeNull()
  })

  it('names what it leaves out: large files, dependencies, caches, pipes', async () => {
    using place = testPlace()
    place.run('mkdir -p node_modules/x target && touch node_modules/x/y target/CACHEDIR.TAG target/z && mkfifo pipe')
    writeFileSync(join(place.root, 'large'), 'x'.repeat(2_000))
    writeFileSync(join(place.root, 'small'), 'x')
    const taken = await open(place, { maxFileBytes: 1_000 }).take(place.root, MANUAL)
    expect(taken.skipped).toEqual({ excluded: 2, 'too-large': 1, special: 1 })
    expect(taken.bytes).toBe(1)
  })

  it('says in one line what it cannot keep, and leaves nothing behind', async () => {
    using place = testPlace()
    for (let at = 0; at < 30; at++) writeFileSync(join(place.root, `f${at}`), noise(100_000, at))
    const failing = (limits: Partial<CheckpointLimits>, signal?: AbortSignal) =>
      open(place, limits).take(place.root, { ...MANUAL, ...(signal ? { signal } : {}) })
    await expect(failing({ maxFiles: 10 })).rejects.toMatchObject({ code: 'checkpoint.too_many_files' })
    await expect(failing({ maxTotalBytes: 500_000 })).rejects.toMatchObject({ code: 'checkpoint.too_large' })
    await expect(failing({}, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
    await expect(open(place).take(join(place.root, 'gone'), MANUAL)).rejects.toMatchObject({
      code: 'checkpoint.no_workspace',
    })
    const packs = storesIn(place).flatMap((store) => readdirSync(join(place.directory, store, 'packs')))
    expect(packs).toEqual([])
    expect(open(place).list(place.root)).toEqual([])
  })

  it('leaves out the checkpoints themselves when they are kept inside the workspace', async () => {
    using place = testPlace()
    const directory = join(place.root, 'own')
    const checkpoints = createCheckpoints({ directory, exclude: [join(place.root, 'home')] })
    mkdirSync(join(place.root, 'home'))
    writeFileSync(join(place.root, 'home/state.db'), 'x')
    writeFileSync(join(place.root, 'a'), 'a')
    const first = await checkpoints.take(place.root, MANUAL)
    writeFileSync(join(place.root, 'home/state.db'), 'y')
    const second = await checkpoints.take(place.root, MANUAL)
    expect(second.tree).toBe(first.tree)
    expect(second.skipped).toEqual({ excluded: 2 })
  })

  it('gives each of several takers at once a number of its own', async () => {
    using place = testPlace()
    writeFileSync(join(place.root, 'a'), 'a')
    const taken = await Promise.all(Array.from({ length: 6 }, () => open(place).take(place.root, MANUAL)))
    expect(new Set(taken.map(({ number }) => number)).size).toBe(6)
  })
})

describe('settle', () => {
  it('drops what a run did not need and keeps what it did', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: 'idle' })
    await checkpoints.settle(place.root, 'idle')
    expect(checkpoints.list(place.root)).toEqual([])
    await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: 'busy' })
    writeFileSync(join(place.root, 'a'), 'a')
    await checkpoints.settle(place.root, 'busy')
    expect(checkpoints.list(place.root)).toMatchObject([{ number: 2, after: { nextNumber: 3 } }])
  })
})

describe('limits', () => {
  it('keeps the newest, and those with a name longest; numbers are not used again', async () => {
    using place = testPlace()
    const checkpoints = open(place, { maxSnapshots: 3 })
    await checkpoints.take(place.root, { ...MANUAL, label: 'named' })
    for (let at = 0; at < 4; at++) await checkpoints.take(place.root, MANUAL)
    expect(checkpoints.list(place.root).map(({ number }) => number)).toEqual([1, 4, 5])
    expect(await checkpoints.clear()).toMatchObject({ removed: 3 })
    expect(checkpoints.workspaces()).toEqual([])
  })

  it('evicts the oldest of all workspaces until the rest fits, and what is left can be restored', async () => {
    using place = testPlace()
    using other = testPlace()
    const maxTotalBytes = 1_000_000
    const checkpoints = open(place, { maxTotalBytes })
    writeFileSync(join(other.root, 'old'), noise(300_000, 99))
    await checkpoints.take(other.root, { kind: 'automatic', reason: 'test', runId: 'first' })
    writeFileSync(join(place.root, 'stays'), noise(50_000, 77))
    for (let at = 0; at < 8; at++) {
      await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: `run ${at}` })
      writeFileSync(join(place.root, 'a'), noise(200_000, at))
      await checkpoints.settle(place.root, `run ${at}`)
      expect(checkpoints.workspaces().reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThan(maxTotalBytes)
    }
    const records = checkpoints.list(place.root)
    expect(records.length).toBeGreaterThan(1)
    await checkpoints.restore(place.permit(), place.root, { wanted: String(records[0]!.number), force: true })
    expect(stateOf(place.root)['stays']).toBe(`file 644 ${noise(50_000, 77).toString('latin1')}`)
  })

  it('forgets what is too old, and workspaces that are gone when asked', async () => {
    using place = testPlace()
    using gone = testPlace()
    const clock = createFakeClock(1_000 * DAY_MS)
    const checkpoints = createCheckpoints({ directory: place.directory, clock })
    await checkpoints.take(gone.root, MANUAL)
    await checkpoints.take(place.root, MANUAL)
    await clock.advance(8 * DAY_MS)
    await checkpoints.take(place.root, MANUAL)
    rmSync(gone.root, { recursive: true })
    expect(await checkpoints.prune({ retentionDays: 30 })).toMatchObject({ removed: 0 })
    expect(await checkpoints.prune({ retentionDays: 7, orphans: true })).toMatchObject({ removed: 2 })
    expect(checkpoints.workspaces()).toMatchObject([{ root: place.root, checkpoints: [{ number: 2 }] }])
  })

  it('tidies many small packs into one', async () => {
    using place = testPlace()
    const checkpoints = open(place, { maxSnapshots: 100 })
    for (let at = 0; at < 30; at++) {
      await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: `run ${at}` })
      writeFileSync(join(place.root, `f${at % 7}`), `content ${at}`)
      await checkpoints.settle(place.root, `run ${at}`)
    }
    const [store] = storesIn(place)
    await checkpoints.prune({ retentionDays: 1 })
    for (let at = 30; at < 45; at++) {
      await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: `run ${at}` })
      writeFileSync(join(place.root, `f${at % 7}`), `content ${at}`)
      await checkpoints.settle(place.root, `run ${at}`)
    }
    expect(readdirSync(join(place.directory, store!, 'packs')).length).toBeLessThan(100)
    await checkpoints.restore(place.permit(), place.root, { wanted: '1', force: true })
    expect(stateOf(place.root)).toEqual({ '': '755' })
  })
})

describe('restore', () => {
  it('takes a permit for the folder itself, once', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    await checkpoints.take(place.root, MANUAL)
    const permit = place.permit()
    await checkpoints.restore(permit, place.root, { wanted: '1' })
    await expect(checkpoints.restore(permit, place.root, { wanted: '1' })).rejects.toMatchObject({
      code: 'policy.permit_used',
    })
  })

  it('does nothing and says so when nothing is different', async () => {
    using place = testPlace()
    fillWorkspace(place)
    const checkpoints = open(place)
    await checkpoints.take(place.root, MANUAL)
    expect(await checkpoints.restore(place.permit(), place.root, { wanted: '1', force: true })).toMatchObject({
      undo: null,
      restored: [],
      conflicts: [],
    })
    expect(checkpoints.list(place.root)).toHaveLength(1)
  })

  it('names what there is when a checkpoint is unknown', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    const restore = (wanted: string) => checkpoints.restore(place.permit(), place.root, { wanted })
    await expect(restore('1')).rejects.toThrow('There is no checkpoint of this folder yet.')
    await checkpoints.take(place.root, { ...MANUAL, label: 'start' })
    await expect(restore('7')).rejects.toThrow('There is no checkpoint "7" of this folder. The newest are: 1 (start).')
    expect(await restore(' start ')).toMatchObject({ target: { number: 1 } })
  })

  it('says that a damaged store is damaged', async () => {
    using place = testPlace()
    const checkpoints = open(place)
    writeFileSync(join(place.root, 'a'), 'a')
    await checkpoints.take(place.root, MANUAL)
    rmSync(join(place.root, 'a'))
    place.run(`rm ${place.directory}/*/packs/* ${place.directory}/*/stat-cache`)
    await expect(checkpoints.restore(place.permit(), place.root, { wanted: '1', force: true })).rejects.toMatchObject({
      code: 'checkpoint.damaged',
    })
  })

  it('makes the workspace again when it is gone as a whole', async () => {
    using place = testPlace()
    fillWorkspace(place)
    const before = stateOf(place.root)
    const checkpoints = open(place)
    await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId: 'run' })
    rmSync(place.root, { recursive: true })
    await checkpoints.settle(place.root, 'run')
    const report = await checkpoints.restore(place.permit(), place.root, { wanted: '1' })
    expect(report.conflicts).toEqual([])
    expect(stateOf(place.root)).toEqual(before)
  })
})

describe('workspaceRoot', () => {
  it('is the project a folder is in, else the folder; never the home or what holds it', () => {
    using place = testPlace()
    const user = join(place.root, 'user')
    mkdirSync(join(user, 'project/.git'), { recursive: true })
    mkdirSync(join(user, 'project/src/deep'), { recursive: true })
    mkdirSync(join(user, 'plain/inner'), { recursive: true })
    mkdirSync(join(user, '.hermes/skills'), { recursive: true })
    symlinkSync('project/src', join(user, 'shortcut'))
    const root = (path: string) => workspaceRoot(path, { userHome: user, home: join(user, '.hermes') })
    expect(root(join(user, 'project/src/deep'))).toBe(join(user, 'project'))
    expect(root(join(user, 'project/src/not-yet/there.txt'))).toBe(join(user, 'project'))
    expect(root(join(user, 'shortcut'))).toBe(join(user, 'project'))
    expect(root(join(user, 'plain/inner'))).toBe(join(user, 'plain/inner'))
    for (const path of [user, place.root, '/', '/tmp', '/etc', join(user, '.hermes/skills')])
      expect(root(path)).toBeNull()
  })
})
