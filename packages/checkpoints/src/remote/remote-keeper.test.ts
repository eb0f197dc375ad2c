import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Subject } from '@hermes/contracts/policy'
import { createPolicy } from '@hermes/safety'
import { expect, it, onTestFinished } from 'vitest'
import { RemoteKeeper } from './remote-keeper.js'

/** Files and commands as of another machine: those of a folder of this one. */
function otherMachine(): Environment {
  const read = async (path: string) => (existsSync(path) ? readFileSync(path) : null)
  return {
    backend: 'ssh',
    read,
    stat: async (path: string) => (existsSync(path) ? { type: 'file', sizeBytes: statSync(path).size } : null),
    write: async (_: unknown, path: string, bytes: Uint8Array) => writeFileSync(path, bytes),
    remove: async (_: unknown, path: string) => rmSync(path),
    exec: async (_: unknown, command: string, { cwd, env }: { cwd: string; env?: Record<string, string> }) => {
      const how = { cwd, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } } as const
      try {
        const output = execFileSync('sh', ['-c', command], how)
        return { exitCode: 0, output, outputBytes: Buffer.byteLength(output) }
      } catch (error) {
        return { exitCode: 1, output: String(error), outputBytes: 0 }
      }
    },
  } as unknown as Environment
}

function setUp({ isRepository = true } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'hermes-remote-'))
  onTestFinished(() => rmSync(base, { recursive: true, maxRetries: 10 }))
  const [root, directory] = [join(base, 'app'), join(base, 'kept')]
  mkdirSync(root)
  const put = (path: string, text: string) => writeFileSync(join(root, path), text)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: root, stdio: 'pipe' })
  put('tracked', 'one')
  put('notes', 'mine')
  if (isRepository) {
    git('init', '-q')
    git('add', 'tracked')
    git('commit', '-qm', 'one')
    put('tracked', 'not committed yet')
  }
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [root] })
  const subject: Subject = { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false }
  const permit = async (action: Action) => {
    const decision = await policy.decide(action, subject)
    if (decision.type === 'allow') return decision.permit
    throw new HermesError(`${action.type === 'spawn' ? action.command : action.type} is not permitted.`, {
      code: 'policy.denied',
    })
  }
  const notices: string[] = []
  const common = { environment: otherMachine(), signal: new AbortController().signal, permit }
  const run = (runId: string) => ({ ...common, runId, notice: (text: string) => void notices.push(text) })
  const options = { directory, sessionId: 's/1', maxFileBytes: 1_000, clock: systemClock, logger: silentLogger }
  return {
    ...{ root, directory, notices, put, run, policy },
    keeper: new RemoteKeeper(options),
    there: (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null),
    // As the program that is started next finds them.
    anew: () => new RemoteKeeper(options),
    allowing: { ...run('restore'), permit: async () => ({}) as never },
    command: (command: string): Action => ({ type: 'spawn', command, cwd: root, backend: 'ssh' }),
    writing: (path: string): Action => ({ type: 'write', path: join(root, path), operation: 'write', backend: 'ssh' }),
  }
}

it('keeps what git tracks before the first command of a run, and what file tools change, and brings both back', async () => {
  const { keeper, put, there, run, command, writing, anew, allowing, directory, notices, root } = setUp()
  await keeper.before(command('git status'), run('1'))
  expect(keeper.list()).toEqual([])
  await Promise.all([keeper.before(writing('notes'), run('1')), keeper.before(writing('new'), run('1'))])
  for (const [path, text] of [
    ['notes', 'theirs'],
    ['new', 'new'],
  ] as const)
    put(path, text)
  await keeper.before(command('make'), run('1'))
  for (const path of ['tracked', 'notes', 'made']) put(path, 'broken')
  await keeper.before(writing('notes'), run('2'))
  put('notes', 'later')
  expect(keeper.list()).toMatchObject([{ number: 1 }, { number: 2 }])
  expect(notices).toEqual([expect.stringMatching(`^Files that git tracks in ${root} .* cannot be rolled back\\.$`)])
  expect(await anew().restore('1', allowing)).toEqual({
    ...{ restored: [join(root, 'notes')], removed: [join(root, 'new')], failed: [], git: root, undo: 3 },
  })
  expect(['tracked', 'notes', 'new', 'made'].map(there)).toEqual(['not committed yet', 'mine', null, 'broken'])
  await anew().restore('3', allowing)
  expect(['tracked', 'notes', 'new'].map(there)).toEqual(['broken', 'later', 'new'])
  for (const file of readdirSync(directory, { recursive: true, withFileTypes: true }))
    expect(statSync(join(file.parentPath, file.name)).mode & 0o077).toBe(0)
})

it('says before the first command what cannot be kept, once in a session', async () => {
  const { keeper, run, command, writing, notices, put } = setUp({ isRepository: false })
  put('large', 'x'.repeat(2_000))
  await keeper.before(writing('large'), run('1'))
  await keeper.before(command('make'), run('1'))
  await keeper.before(command('make'), run('2'))
  expect(notices).toEqual([
    expect.stringMatching(/large is larger than .* MB: what changes in it cannot be rolled back\.$/),
    expect.stringMatching(
      /is in no git repository that can be read: what commands change there cannot be rolled back\./,
    ),
  ])
})

it('names what there is when another one is wanted, and leaves what is not permitted', async () => {
  const { keeper, run, writing, put, there, allowing, root } = setUp()
  await expect(keeper.restore('1', allowing)).rejects.toThrow('Nothing is kept of files there yet.')
  await keeper.before(writing('notes'), run('1'))
  put('notes', 'theirs')
  await expect(keeper.restore('7', allowing)).rejects.toThrow('There is no checkpoint 7 there. There are: 1.')
  const refusing = { ...allowing, permit: () => Promise.reject(new HermesError('No.', { code: 'policy.denied' })) }
  expect(await keeper.restore('1', refusing)).toMatchObject({ failed: [{ path: join(root, 'notes'), why: 'No.' }] })
  expect(there('notes')).toBe('theirs')
})

it('says in one line that what it kept is damaged or missing', async () => {
  const { keeper, run, writing, put, allowing, directory } = setUp()
  await keeper.before(writing('notes'), run('1'))
  put('notes', 'theirs')
  const folder = join(directory, readdirSync(directory)[0]!)
  for (const name of readdirSync(folder)) if (name !== 'records.json') rmSync(join(folder, name))
  expect((await keeper.restore('1', allowing)).failed).toMatchObject([{ why: 'What was kept of it is missing.' }])
  for (const text of ['[{"number":1', '{}']) {
    writeFileSync(join(folder, 'records.json'), text)
    await expect(keeper.restore('1', allowing)).rejects.toThrow(/^The list of kept files is damaged: .*records\.json\./)
  }
})

it('brings back what git tracks as it was, not as commands or the restore itself had left it for a tool', async () => {
  const { keeper, put, there, run, command, writing, allowing } = setUp()
  const both = () => [there('tracked'), there("it's new")]
  await keeper.before(writing('tracked'), run('1'))
  put('tracked', 'written')
  await keeper.before(command('make format'), run('2'))
  put('tracked', 'formatted')
  put("it's new", 'made by make')
  await keeper.before(writing('tracked'), run('2'))
  put('tracked', 'edited')
  await keeper.before(writing('tracked'), run('3'))
  await keeper.before(writing("it's new"), run('3'))
  put('tracked', 'edited again')
  put("it's new", 'edited')
  expect((await keeper.restore('2', allowing)).undo).toBe(4)
  expect(both()).toEqual(['written', 'made by make'])
  await keeper.restore('4', allowing)
  expect(both()).toEqual(['edited again', 'edited'])
  expect((await keeper.restore('1', allowing)).undo).toBe(6)
  expect(both()).toEqual(['not committed yet', 'made by make'])
  await keeper.restore('6', allowing)
  expect(both()).toEqual(['edited again', 'edited'])
})

it('runs nothing on the other machine that the repository names', async () => {
  const { root, put, keeper, run, allowing, command, there } = setUp()
  const [program, canary] = [join(root, '.git/program.sh'), join(root, '.git/canary')]
  writeFileSync(program, `#!/bin/sh\n: > '${canary}'\ncat\n`, { mode: 0o755 })
  const filter = `[filter "e\u2028vil"]\n\tclean = ${program}\n\tsmudge = ${program}\n[core]\n\tfsmonitor = ${program}\n`
  appendFileSync(join(root, '.git/config'), filter)
  writeFileSync(join(root, '.git/info/attributes'), 'tracked filter=e\u2028vil\n')
  await keeper.before(command('make'), run('1'))
  put('tracked', 'changed by a command')
  expect(await keeper.restore('1', allowing)).toMatchObject({ git: root, failed: [] })
  expect([there('tracked'), existsSync(canary)]).toEqual(['not committed yet', false])
})
