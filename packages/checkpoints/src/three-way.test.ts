import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stateOf, type TestPlace, testPlace } from './__fixtures__/workspace.js'
import { type Checkpoints, createCheckpoints } from './index.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 10)

/** A place whose checkpoints are at hand, and a run that does something between two states. */
function setUp() {
  const place = testPlace()
  const checkpoints = createCheckpoints({ directory: place.directory })
  let runs = 0
  const run = async (work: () => void): Promise<number> => {
    const runId = `run ${++runs}`
    const { number } = await checkpoints.take(place.root, { kind: 'automatic', reason: 'test', runId })
    work()
    await checkpoints.settle(place.root, runId)
    return number
  }
  const restore = (wanted: number, more: { force?: boolean; paths?: readonly string[]; liveRunId?: string } = {}) =>
    checkpoints.restore(place.permit(), place.root, { wanted: String(wanted), ...more })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(place.root, path)), { recursive: true })
    writeFileSync(join(place.root, path), text)
  }
  const read = (path: string) => readFileSync(join(place.root, path), 'utf8')
  return { ...place, checkpoints, run, restore, write, read, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

describe('a restore with edits of others in between', () => {
  it('takes back what runs did and keeps what was edited between and after them', async () => {
    using t = setUp()
    t.write('ours.txt', 'one\n')
    t.write('theirs.txt', 'one\n')
    const first = await t.run(() => {
      t.write('ours.txt', 'two\n')
      t.write('made.txt', 'made\n')
    })
    t.write('theirs.txt', 'edited\n')
    await t.run(() => t.write('ours.txt', 'three\n'))
    t.write('later.txt', 'later\n')
    const report = await t.restore(first)
    expect(report).toMatchObject({
      restored: ['ours.txt'],
      removed: ['made.txt'],
      conflicts: [],
      merged: [],
      edited: ['later.txt', 'theirs.txt'],
    })
    expect(t.read('ours.txt')).toBe('one\n')
    expect(t.read('theirs.txt')).toBe('edited\n')
    expect(t.read('later.txt')).toBe('later\n')
    expect(existsSync(join(t.root, 'made.txt'))).toBe(false)
  })

  it('keeps an edit in another part of a text it takes back', async () => {
    using t = setUp()
    t.write('a.txt', 'one\ntwo\nthree\nfour\nfive\n')
    const before = await t.run(() => t.write('a.txt', 'ONE\ntwo\nthree\nfour\nfive\n'))
    t.write('a.txt', 'ONE\ntwo\nthree\nfour\nFIVE\n')
    expect(await t.restore(before)).toMatchObject({ merged: ['a.txt'], conflicts: [] })
    expect(t.read('a.txt')).toBe('one\ntwo\nthree\nfour\nFIVE\n')
  })

  it('keeps edits through several runs on the same text', async () => {
    using t = setUp()
    const lines = (first: string, middle: string, last: string) => `${first}\n-\n-\n${middle}\n-\n-\n${last}\n`
    t.write('a.txt', lines('1', '2', '3'))
    const before = await t.run(() => t.write('a.txt', lines('run one', '2', '3')))
    t.write('a.txt', lines('run one', 'mine', '3'))
    await t.run(() => t.write('a.txt', lines('run one', 'mine', 'run two')))
    expect(await t.restore(before)).toMatchObject({ conflicts: [] })
    expect(t.read('a.txt')).toBe(lines('1', 'mine', '3'))
  })

  it.each([
    ['the same lines', (t: Made) => t.write('a.txt', 'mine\n')],
    ['a binary file', (t: Made) => writeFileSync(join(t.root, 'a.txt'), Buffer.from([0, 1, 2]))],
    ['the file gone', (t: Made) => rmSync(join(t.root, 'a.txt'))],
    [
      'a link in its place',
      (t: Made) => {
        rmSync(join(t.root, 'a.txt'))
        symlinkSync('/etc/hostname', join(t.root, 'a.txt'))
      },
    ],
  ])('names a conflict and leaves it: %s', async (_, edit) => {
    using t = setUp()
    t.write('a.txt', 'one\n')
    t.write('b.txt', 'one\n')
    const before = await t.run(() => {
      t.write('a.txt', 'two\n')
      t.write('b.txt', 'two\n')
    })
    edit(t)
    const edited = stateOf(t.root)
    const report = await t.restore(before)
    expect(report.conflicts.map(({ path }) => path)).toEqual(['a.txt'])
    expect(stateOf(t.root)).toEqual({ ...edited, 'b.txt': expect.stringMatching(/one\n$/) })
    expect(await t.restore(before, { force: true })).toMatchObject({ conflicts: [] })
    expect(t.read('a.txt')).toBe('one\n')
  })

  it('brings back what is gone and leaves what is there after a run that was killed', async () => {
    using t = setUp()
    t.write('gone.txt', 'one\n')
    t.write('there.txt', 'one\n')
    const { number } = await t.checkpoints.take(t.root, { kind: 'automatic', reason: 'test', runId: 'killed' })
    rmSync(join(t.root, 'gone.txt'))
    t.write('there.txt', 'whose?\n')
    const report = await t.restore(number)
    expect(report).toMatchObject({ restored: ['gone.txt'], conflicts: [{ path: 'there.txt' }] })
  })

  it('takes everything back in the run that asks', async () => {
    using t = setUp()
    t.write('a.txt', 'one\n')
    const { number } = await t.checkpoints.take(t.root, { kind: 'automatic', reason: 'test', runId: 'live' })
    t.write('a.txt', 'two\n')
    t.write('b.txt', 'new\n')
    expect(await t.restore(number, { liveRunId: 'live' })).toMatchObject({ conflicts: [] })
    expect(stateOf(t.root)).toEqual({ '': '755', 'a.txt': 'file 644 one\n' })
  })

  it('restores single paths and leaves the rest', async () => {
    using t = setUp()
    for (const path of ['a.txt', 'folder/b.txt', 'folder/deep/c.txt', 'folderish.txt']) t.write(path, 'one\n')
    const before = await t.run(() => {
      rmSync(join(t.root, 'folder'), { recursive: true })
      t.write('a.txt', 'two\n')
      t.write('folderish.txt', 'two\n')
    })
    await t.restore(before, { paths: [join(t.root, 'folder/deep')] })
    expect(t.read('folder/deep/c.txt')).toBe('one\n')
    expect(existsSync(join(t.root, 'folder/b.txt'))).toBe(false)
    await t.restore(before, { paths: ['folder/'] })
    expect(t.read('folder/b.txt')).toBe('one\n')
    expect(t.read('a.txt')).toBe('two\n')
    expect(t.read('folderish.txt')).toBe('two\n')
    await expect(t.restore(before, { paths: ['../x'] })).rejects.toMatchObject({ code: 'checkpoint.outside' })
    await expect(t.restore(before, { paths: ['nothing'] })).rejects.toMatchObject({ code: 'checkpoint.no_such_path' })
  })

  it('never writes through a link that took the place of a folder', async () => {
    using t = setUp()
    t.write('folder/a.txt', 'one\n')
    mkdirSync(join(t.root, '../outside'))
    const before = await t.run(() => t.write('folder/a.txt', 'two\n'))
    rmSync(join(t.root, 'folder'), { recursive: true })
    symlinkSync('../outside', join(t.root, 'folder'))
    const report = await t.restore(before)
    expect(report.conflicts.map(({ path }) => path)).toContain('folder/a.txt')
    expect(existsSync(join(t.root, '../outside/a.txt'))).toBe(false)
  })

  it('never removes what no checkpoint holds: large files, excluded folders', async () => {
    using t = setUp()
    t.write('a.txt', 'one\n')
    t.write('node_modules/x/index.js', 'x')
    t.write('old.bin', 'x'.repeat(11 * 2 ** 20))
    const before = await t.run(() => {
      t.write('a.txt', 'two\n')
      t.write('new/large.bin', 'x'.repeat(11 * 2 ** 20))
      rmSync(join(t.root, 'node_modules'), { recursive: true })
      rmSync(join(t.root, 'old.bin'))
    })
    const report = await t.restore(before, { force: true })
    expect(report.unavailable).toEqual(['node_modules', 'old.bin'])
    expect(statSync(join(t.root, 'new/large.bin')).size).toBe(11 * 2 ** 20)
    expect(t.read('a.txt')).toBe('one\n')
  })

  it('keeps a mode that was changed since in a file it takes back', async () => {
    using t = setUp()
    t.write('a.sh', 'one\n')
    const before = await t.run(() => t.write('a.sh', 'two\n'))
    chmodSync(join(t.root, 'a.sh'), 0o755)
    await t.restore(before)
    expect(stateOf(t.root)['a.sh']).toBe('file 755 one\n')
  })
})

type Made = ReturnType<typeof setUp>
type Step = readonly [who: 'run' | 'person', path: string, what: 'write' | 'append' | 'remove' | 'chmod']

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('run' as const, 'person' as const),
  fc.constantFrom('a', 'b', 'd/c', 'd/e/f'),
  fc.constantFrom('write' as const, 'append' as const, 'remove' as const, 'chmod' as const),
)

/** Does one step; the number makes each content its own. */
function carryOut({ root }: Pick<TestPlace, 'root'>, [who, path, what]: Step, number: number): void {
  const full = join(root, path)
  if (what === 'remove') rmSync(full, { force: true })
  else {
    mkdirSync(dirname(full), { recursive: true })
    if (what === 'write') writeFileSync(full, `${who} ${number}\n`)
    else if (what === 'append') appendFileSync(full, `more of ${who} ${number}\n`)
    else if (existsSync(full)) chmodSync(full, number % 2 === 0 ? 0o600 : 0o755)
  }
}

async function play(t: Made, steps: readonly Step[]): Promise<number> {
  let first = 0
  for (const [number, one] of steps.entries()) {
    if (one[0] === 'person') carryOut(t, one, number)
    else {
      const taken = await t.run(() => carryOut(t, one, number))
      first ||= taken
    }
  }
  return first
}

describe('a restore after any history', () => {
  it('leaves every path alone that only people touched since, and can itself be undone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        using t = setUp()
        const started = steps.findIndex(([who]) => who === 'run')
        const target = await play(t, steps)
        const records = t.checkpoints.list(t.root)
        if (!records.some(({ number }) => number === target)) return
        const before = stateOf(t.root)
        const report = await t.restore(target)
        const after = stateOf(t.root)
        const touched = new Set(steps.slice(started).flatMap(([who, path]) => (who === 'run' ? [path] : [])))
        for (const path of ['a', 'b', 'd/c', 'd/e/f']) if (!touched.has(path)) expect(after[path]).toBe(before[path])
        if (report.undo) await t.restore(report.undo.number)
        expect(stateOf(t.root)).toEqual(before)
      }),
      { numRuns: RUNS },
    )
  })

  it('gives exactly the state of the checkpoint when that is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.array(step, { maxLength: 6 }), async (earlier, later) => {
        using t = setUp()
        await play(t, earlier)
        const wanted = stateOf(t.root)
        const { number } = await t.checkpoints.take(t.root, { kind: 'manual', reason: 'test' })
        await play(t, later)
        await t.restore(number, { force: true })
        expect(stateOf(t.root)).toEqual(wanted)
      }),
      { numRuns: RUNS },
    )
  })

  it('takes back all that runs did when nobody else did anything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        using t = setUp()
        t.write('d/c', 'there from the start\n')
        const before = stateOf(t.root)
        const target = await play(
          t,
          steps.map(([, path, what]) => ['run', path, what] as const),
        )
        const records: ReturnType<Checkpoints['list']> = t.checkpoints.list(t.root)
        const [oldest] = records
        if (oldest === undefined) return
        expect(oldest.number).toBeGreaterThanOrEqual(target)
        expect((await t.restore(oldest.number)).conflicts).toEqual([])
        expect(stateOf(t.root)).toEqual(before)
      }),
      { numRuns: RUNS },
    )
  })
})
