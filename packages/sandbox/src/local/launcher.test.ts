// Commands of many sessions, started by the small process that stands in for this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@hermes/contracts'
import type { ExecOptions } from '@hermes/contracts/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { groupExists } from '../processes/process-tree.js'
import { OutputPipes, SharedPipes, UnusedPipes } from '../shell/output-pipe.js'
import { runCommand } from '../shell/run-command.js'
import { REGISTER } from '../shell/shell-script.js'
import { testPermit } from '../testing/index.js'
import { Launcher } from './launcher.js'
import { createLocalEnvironment } from './local-environment.js'
import { OrphanGuard, SharedWatcher } from './orphan-guard.js'

const ENOUGH = 8
const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

async function temporaryFolder(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-launcher-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

/** An agent of a process of its own, and the numbers it tells. */
async function startAgent(script: string, ...more: readonly string[]) {
  const load = fixture('../../../testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', '--import', load, fixture(script), ...more]
  const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void agent.kill('SIGKILL'))
  const [line] = (await once(agent.stdout, 'data')) as [Buffer]
  return { agent, numbers: line.toString().trim().split(' ').map(Number) }
}

/** Sessions that share what those of a program share, as soon as commands of theirs are launched; `launcher` is the process that does it. */
async function openSessions() {
  const root = await temporaryFolder()
  const [watcher, pipes] = [new SharedWatcher(), new SharedPipes(root)]
  const sessions = Array.from({ length: ENOUGH }, (_, index) =>
    createLocalEnvironment({
      ...{ cwd: root, home: root, outputDir: join(root, `${index}`), watcher, pipes },
      env: { PATH: '/usr/bin:/bin', SESSION: `${index}` },
    }),
  )
  onTestFinished(async () => {
    await Promise.all(sessions.map((session) => session.close()))
  })
  const run = (index: number, command: string, options: ExecOptions = {}) =>
    sessions[index]!.exec(testPermit({ type: 'spawn', command, cwd: root, backend: 'local' }), command, options)
  await Promise.all(sessions.map((_, index) => run(index, 'true')))
  const launcherNow = async () => {
    for (;;) {
      const parent = Number((await run(0, 'echo $PPID')).output)
      if (parent !== process.pid) return parent
    }
  }
  return { run, launcherNow, launcher: await launcherNow() }
}

describe.runIf(process.platform === 'linux')('a launched command', () => {
  it('leads a session of its own, has no descriptor of others, and ends as it would otherwise', async () => {
    const { run, launcher } = await openSessions()
    // Of the look at it, its own descriptor is one more.
    const look = `echo $PPID $(ps -o pgid=,sid= -p $$) $$ "$SESSION"; echo $(ls -l /proc/self/fd | sed 's/.*[0-9] \\([0-9]* ->\\)/\\1/; s/output-[0-9]*//; /proc/d'); exit 3`
    const launched = await Promise.all(Array.from({ length: ENOUGH }, (_, index) => run(index, look)))
    for (const [index, { output, exitCode }] of launched.entries()) {
      const [parent, group, sid, pid, session] = output.split('\n')[0]!.split(' ').map(Number)
      expect({ parent, group, sid, session, exitCode }).toEqual({
        ...{ parent: launcher, group: pid, sid: pid, session: index, exitCode: 3 },
      })
    }
    // With input of its own it is started as ever.
    const direct = await run(0, look, { stdin: '' })
    expect(direct.output.split(' ')[0]).toBe(`${process.pid}`)
    const descriptors = (output: string) => output.match(/\b(?:[1-9]|\d{2,}) ->/g)
    expect(descriptors(launched[0]!.output)).toEqual(descriptors(direct.output))
    expect(await run(1, 'kill -9 $$')).toMatchObject({ signal: 'SIGKILL' })
  })

  it('ends with all it started when it is aborted, and when the process that started it is gone, which another one replaces', async () => {
    const { run, launcher, launcherNow } = await openSessions()
    const waiting = async (index: number, options: ExecOptions = {}) => {
      const up = Promise.withResolvers<number>()
      const ended = run(index, 'echo $$; sleep 60 & sleep 61', {
        ...options,
        onOutput: (text) => up.resolve(Number.parseInt(text, 10)),
      })
      return { group: await up.promise, ended }
    }
    const aborted = new AbortController()
    const first = await waiting(1, { signal: aborted.signal })
    aborted.abort()
    expect(await first.ended).toMatchObject({ canceled: true })
    await expect.poll(() => groupExists(first.group)).toBe(false)
    const second = await waiting(2)
    process.kill(launcher, 'SIGKILL')
    expect(await second.ended).toMatchObject({ signal: 'SIGKILL', exitCode: null })
    await expect.poll(() => groupExists(second.group)).toBe(false)
    expect(await launcherNow()).not.toBe(launcher)
  })

  it('is ended when the agent is killed, and so is the process that started it', async () => {
    const { agent, numbers } = await startAgent('many-sessions.mjs', await temporaryFolder())
    const [group = 0, parent = 0, launcher] = numbers
    expect(parent).toBe(launcher)
    expect(parent).not.toBe(agent.pid)
    agent.kill('SIGKILL')
    await expect.poll(() => groupExists(group) || groupExists(parent)).toBe(false)
  })

  it('is not started once the agent is killed, and holds up neither the process that was to start it nor the end of the others', async () => {
    const root = await temporaryFolder()
    const { agent, numbers } = await startAgent('queued-launches.mjs', root)
    const [launcher = 0, running = 0] = numbers
    onTestFinished(() => {
      for (const group of [launcher, running].filter(groupExists)) process.kill(-group, 'SIGKILL')
    })
    const tasks = await readdir(`/proc/${agent.pid}/task`)
    const children = await Promise.all(
      tasks.map((task) => readFile(`/proc/${agent.pid}/task/${task}/children`, 'utf8')),
    )
    const [watcher = 0, ...others] = (children.join(' ').match(/\d+/g) ?? [])
      .map(Number)
      .filter((pid) => pid !== launcher)
    expect(others).toEqual([])
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    process.kill(launcher, 'SIGCONT')
    await expect.poll(() => [launcher, running, watcher].filter(groupExists), { timeout: 8_000 }).toEqual([])
    expect((await readdir(root)).filter((name) => name.startsWith('ran-'))).toEqual([])
  })

  it('is ended when the process that started it is gone before it told of it, and its output is no other command’s', async () => {
    const root = await temporaryFolder()
    const [guard, pipes] = [new OrphanGuard(), new OutputPipes(root, new UnusedPipes(join(root, 'pipes')))]
    const [starts, gone] = [new Launcher(guard.channel()!), new Launcher(guard.channel()!)]
    onTestFinished(() => {
      starts.close()
      guard.close()
    })
    gone.close()
    let [group, output] = [0, '']
    const launch: Launcher['launch'] = async (requested) => {
      output = requested.output
      group = (await starts.launch(requested)).pid
      return gone.launch(requested)
    }
    const launchers = [Object.assign(Object.create(gone) as Launcher, { launch })]
    Object.assign(guard, { launcher: () => launchers.pop() ?? null })
    const run = async (command: string) => {
      const chunks: Buffer[] = []
      await runCommand({
        ...{ program: '/bin/sh', args: ['-c', REGISTER, 'sh', '/bin/sh', '-c', command] },
        ...{ cwd: root, env: { PATH: '/usr/bin:/bin' }, stdin: null, descriptors: [], isConfined: false, mark: null },
        ...{ guard, clock: systemClock, signal: new AbortController().signal, timeoutMs: 10_000 },
        ...{ pipe: await pipes.acquire(), onOutput: (chunk) => void chunks.push(chunk) },
      })
      return Buffer.concat(chunks).toString()
    }
    const lost = run('trap "" PIPE; while :; do echo theirs; sleep 0.01; done')
    await expect(lost).rejects.toMatchObject({ code: 'environment.spawn_failed' })
    await expect.poll(() => groupExists(group)).toBe(false)
    expect(existsSync(output)).toBe(false)
    expect(await run('sleep 0.1; echo mine')).toBe('mine\n')
  })
})
