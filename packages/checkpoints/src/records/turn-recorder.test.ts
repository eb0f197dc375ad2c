import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'
import { testPlace } from '../__fixtures__/workspace.js'
import { type CheckpointLimits, createCheckpoints, createTurnRecorder } from '../index.js'

function setUp(limits: Partial<CheckpointLimits> = {}) {
  const place = testPlace()
  const base = join(place.root, '..')
  const checkpoints = createCheckpoints({ directory: place.directory, limits })
  const recorder = createTurnRecorder({
    checkpoints,
    cwd: place.root,
    userHome: join(base, 'user'),
    home: join(base, 'user/.hermes'),
    upkeep: { retentionDays: 7, minIntervalHours: 24 },
  })
  const notices: string[] = []
  const run = (runId: string, signal = new AbortController().signal) => ({
    sessionId: 's',
    runId,
    turnSeq: 5,
    signal,
    notice: (text: string) => void notices.push(text),
  })
  return { ...place, base, checkpoints, recorder, notices, run, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

const spawn = (command: string, cwd: string): Action => ({ type: 'spawn', command, cwd, backend: 'local' })
const write = (path: string, operation: 'write' | 'remove' = 'write'): Action => ({
  type: 'write',
  path,
  operation,
  backend: 'local',
})

describe('createTurnRecorder', () => {
  it('takes one checkpoint a turn, before its first action, and notes what the turn left', async () => {
    using t = setUp()
    writeFileSync(join(t.root, 'a'), 'one')
    await t.recorder.before(spawn('rm a', t.root), t.run('r1'))
    rmSync(join(t.root, 'a'))
    await t.recorder.before(write(join(t.root, 'b')), t.run('r1'))
    writeFileSync(join(t.root, 'b'), 'two')
    t.recorder.after('r1')
    await t.recorder.before(write(join(t.root, 'deep/er/c')), t.run('r2'))
    t.recorder.after('r2')
    await t.recorder.close()
    const records = t.checkpoints.list(t.root)
    expect(records).toMatchObject([
      { number: 1, kind: 'automatic', reason: 'before: rm a', sessionId: 's', runId: 'r1', undoFromSeq: 5 },
    ])
    expect(records[0]!.after).not.toBeNull()
    await t.checkpoints.restore(t.permit(), t.root, { wanted: '1' })
    expect(readFileSync(join(t.root, 'a'), 'utf8')).toBe('one')
  })

  it('takes one before every program that is not known only to look, and none for a run that looks', async () => {
    using t = setUp()
    writeFileSync(join(t.root, 'a'), 'one')
    const programs = ['bash x.sh', './x.sh', 'make', 'npm run build', 'go run .', 'uv run x.py', 'echo b >> a']
    const code: Action = {
      type: 'spawn',
      command: 'python3',
      argv: ['python3', '-c', 'x'],
      cwd: t.root,
      backend: 'local',
    }
    for (const look of ['ls', 'git status', 'grep -r one . | head', 'cat a'])
      await t.recorder.before(spawn(look, t.root), t.run('look'))
    expect(t.checkpoints.list(t.root)).toEqual([])
    for (const [at, action] of [...programs.map((line) => spawn(line, t.root)), code].entries()) {
      await t.recorder.before(action, t.run(`r${at}`))
      await t.recorder.before(spawn('rm a', t.root), t.run(`r${at}`))
      expect(t.checkpoints.list(t.root)).toHaveLength(at + 1)
    }
  })

  it('reads the workspace beforehand without a checkpoint, and keeps the state of the moment all the same', async () => {
    using t = setUp()
    for (const name of ['a', 'b']) writeFileSync(join(t.root, name), 'one')
    await t.recorder.prepare()
    expect(t.checkpoints.list(t.root)).toEqual([])
    expect(t.checkpoints.workspaces().map(({ root }) => root)).toEqual([t.root])
    writeFileSync(join(t.root, 'a'), 'by the person')
    await t.recorder.before(spawn('make', t.root), t.run('r1'))
    for (const name of ['a', 'b']) rmSync(join(t.root, name))
    t.recorder.after('r1')
    await t.recorder.close()
    await t.checkpoints.restore(t.permit(), t.root, { wanted: '1' })
    expect(readFileSync(join(t.root, 'a'), 'utf8')).toBe('by the person')
    expect(readFileSync(join(t.root, 'b'), 'utf8')).toBe('one')
    await t.checkpoints.clear()
  })

  it('gives back the room of a workspace that was read and never changed', async () => {
    using t = setUp()
    writeFileSync(join(t.root, 'a'), randomBytes(100_000))
    await t.recorder.prepare()
    const before = t.checkpoints.workspaces()[0]!.sizeBytes
    expect((await t.checkpoints.prune({ maxTotalBytes: 1 })).freedBytes).toBeGreaterThan(before / 2)
  })

  it('ends the reading when it is closed', async () => {
    using t = setUp()
    for (let at = 0; at < 500; at++) writeFileSync(join(t.root, `f${at}`), `${at}`.repeat(2000))
    const reading = t.recorder.prepare()
    await Promise.all([t.recorder.close(), reading])
    expect(t.notices).toEqual([])
  })

  it('waits for the checkpoint of a call beside it', async () => {
    using t = setUp()
    writeFileSync(join(t.root, 'a'), 'one')
    await Promise.all(['x', 'y', 'z'].map((name) => t.recorder.before(write(join(t.root, name)), t.run('r1'))))
    expect(t.checkpoints.list(t.root)).toHaveLength(1)
  })

  it('keeps other folders too that a command names', async () => {
    using t = setUp()
    for (const folder of ['elsewhere/.git', 'elsewhere/src', 'user/notes'])
      mkdirSync(join(t.base, folder), { recursive: true })
    await t.recorder.before(spawn('cd ../elsewhere/src && rm x; cp a ~/notes/b', t.root), t.run('r1'))
    const roots = t.checkpoints.workspaces().map(({ root }) => root)
    expect(roots.sort()).toEqual([join(t.base, 'elsewhere'), join(t.base, 'user/notes'), t.root].sort())
  })

  it('leaves other machines and what is no workspace alone', async () => {
    using t = setUp()
    mkdirSync(join(t.base, 'user/.hermes'), { recursive: true })
    await t.recorder.before({ type: 'spawn', command: 'rm a', cwd: t.root, backend: 'docker' }, t.run('r1'))
    await t.recorder.before(write(join(t.base, 'user/.hermes/memories/MEMORY.md')), t.run('r1'))
    await t.recorder.before(write('/dev/null'), t.run('r1'))
    await t.recorder.before({ type: 'fetch', url: 'https://a.example', method: 'GET' }, t.run('r1'))
    t.recorder.after('r1')
    await t.recorder.close()
    expect(t.checkpoints.workspaces()).toEqual([])
  })

  it('says once that none could be taken, and never throws', async () => {
    using t = setUp({ maxFiles: 2 })
    for (const name of ['a', 'b', 'c']) writeFileSync(join(t.root, name), name)
    await t.recorder.before(write(join(t.root, 'd')), t.run('r1'))
    t.recorder.after('r1')
    await t.recorder.before(write(join(t.root, 'd')), t.run('r2'))
    t.recorder.after('r2')
    await t.recorder.close()
    expect(t.notices).toEqual([
      expect.stringMatching(/holds more than 2 files, so no checkpoint is kept of it\. Changes of this turn cannot/),
    ])
  })

  it('does not read a workspace again that cannot be kept', async () => {
    using t = setUp({ maxFiles: 2 })
    for (const name of ['a', 'b', 'c']) writeFileSync(join(t.root, name), name)
    await t.recorder.before(write(join(t.root, 'd')), t.run('r1'))
    for (const name of ['b', 'c']) rmSync(join(t.root, name))
    await t.recorder.before(write(join(t.root, 'd')), t.run('r2'))
    await t.recorder.close()
    expect(t.notices).toHaveLength(1)
    expect(t.checkpoints.list(t.root)).toEqual([])
  })

  it('is silent when the person interrupts it', async () => {
    using t = setUp()
    await t.recorder.before(write(join(t.root, 'd')), t.run('r1', AbortSignal.abort()))
    expect(t.notices).toEqual([])
    expect(t.checkpoints.list(t.root)).toEqual([])
  })
})
