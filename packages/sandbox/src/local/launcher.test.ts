// Commands of many sessions, started by the small process that stands in for this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecOptions } from '@hermes/contracts/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { groupExists } from '../processes/process-tree.js'
import { SharedPipes } from '../shell/output-pipe.js'
import { testPermit } from '../testing/index.js'
import { createLocalEnvironment } from './local-environment.js'
import { SharedWatcher } from './orphan-guard.js'

const ENOUGH = 8
const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

async function temporaryFolder(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-launcher-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
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
    const load = fixture('../../../testkit/src/__fixtures__/load-sources.mjs')
    const args = [
      '--conditions=@hermes/source',
      '--import',
      load,
      fixture('many-sessions.mjs'),
      await temporaryFolder(),
    ]
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void agent.kill('SIGKILL'))
    const [line] = (await once(agent.stdout, 'data')) as [Buffer]
    const [group = 0, parent = 0, launcher] = line.toString().trim().split(' ').map(Number)
    expect(parent).toBe(launcher)
    expect(parent).not.toBe(agent.pid)
    agent.kill('SIGKILL')
    await expect.poll(() => groupExists(group) || groupExists(parent)).toBe(false)
  })
})
