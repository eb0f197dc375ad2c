import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { CloudServer } from '@hermes/testkit/clouds'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { harness } from '../../testing/harness.js'
import { testPermit } from '../../testing/index.js'
import { type CloudOptions, sandboxName } from '../open-cloud.js'

interface CloudUnderTest<Options extends CloudOptions> {
  readonly backend: string
  readonly server: () => CloudServer
  readonly options: (more?: Partial<Options>) => Promise<Options>
  readonly open: (options: Options) => Promise<Environment>
  /** Credentials that are not taken, and the secret among them. */
  readonly wrong: { readonly options: Partial<Options>; readonly secret: string }
  /** The request that makes a sandbox. */
  readonly making: RegExp
  /** The request that brings a large file, where files have one of their own. */
  readonly bringing?: RegExp
  /** Whether the service itself stops a sandbox with its files. */
  readonly keepsAtRest: boolean
}

const NEW_ONE = '[The sandbox is a new one: files and processes of the one before are gone.]\n'

/** What sandboxes of all clouds promise beside the environment's own suite. */
export function cloudTests<Options extends CloudOptions>(cloud: CloudUnderTest<Options>): void {
  const task = () => `task ${randomBytes(4).toString('hex')}`

  async function create(more: Partial<CloudOptions> = {}) {
    const requested = await cloud.options({ task: task(), ...more } as Partial<Options>)
    const environment = await cloud.open(requested)
    return { environment, dispose: () => environment.close() }
  }

  async function folder() {
    const made = await mkdtemp(join(tmpdir(), 'hermes-cloud-out-'))
    onTestFinished(() => rm(made, { recursive: true, force: true }))
    return made
  }

  afterEach(() => cloud.server().repair())

  describe('failures in one line', () => {
    const failing = async (more: Partial<CloudOptions> = {}) => {
      const requested = await cloud.options({ task: task(), ...more } as Partial<Options>)
      const error: unknown = await cloud.open(requested).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'HermesError', message: expect.stringMatching(/^[^\n]+\.$/) })
      return error as Error & { readonly code: string; readonly retryable: boolean }
    }

    it('say that the credentials are refused, without naming them', async () => {
      const { code, retryable, message } = await failing(cloud.wrong.options)
      expect([code, retryable]).toEqual(['environment.auth_failed', false])
      expect(message).not.toContain(cloud.wrong.secret)
    })

    it('say that the quota is used up', async () => {
      cloud.server().fail(cloud.making, { status: 402, message: 'Quota exceeded: 10 of 10 cores', times: 50 })
      const { code, retryable, message } = await failing()
      expect([code, retryable]).toEqual(['environment.quota_exceeded', false])
      expect(message).toContain('10 of 10 cores')
    })

    it('say that the service has trouble', async () => {
      cloud.server().fail(cloud.making, { status: 503, message: 'down for maintenance', times: 50 })
      expect(await failing()).toMatchObject({ code: 'environment.service_unavailable', retryable: true })
    })

    it('say that the service cannot be reached', async () => {
      cloud.server().cut({ stay: true })
      expect(await failing()).toMatchObject({ code: 'environment.unreachable', retryable: true })
    })
  })

  describe('a sandbox', () => {
    it('is one for each task, shared by all that open it, and stays until its last user is done', async () => {
      const [outputDir, shared] = [await folder(), task()]
      const first = await harness(() => create({ outputDir, task: shared }))
      const second = await harness(() => create({ outputDir, task: shared }))
      const other = await harness(() => create({ outputDir }))
      expect(first.environment.startProgram).toBeUndefined()
      await first.run('echo shared > ~/note')
      expect((await second.run('cat ~/note')).output).toBe('shared\n')
      expect((await other.run('cat ~/note')).exitCode).toBe(1)
      expect(cloud.server().sandboxes().filter((name) => name === sandboxName({ task: shared, outputDir }))).toHaveLength(1)
      const { output } = await second.run('sleep 60 >/dev/null 2>&1 & echo $!')
      await first.environment.close()
      expect((await second.run(`kill -0 ${output.trim()} && cat ~/note`)).output).toBe('shared\n')
      await second.environment.close()
      expect(await other.gone(output.trim())).toBe(true)
      const third = await harness(() => create({ outputDir, task: shared }))
      expect((await third.run('cat ~/note')).output).toBe('shared\n')
    })

    it('is removed with its last user when it is not to be kept', async () => {
      const passing = task()
      const { environment } = await harness(() => create({ task: passing, persistent: false }))
      const name = sandboxName({ task: passing, outputDir: '/' })
      expect(cloud.server().sandboxes()).toContain(name)
      await environment.close()
      expect(cloud.server().sandboxes()).not.toContain(name)
    })

    it('that ended or was removed is opened again by the next command, and the one that ran says so', async () => {
      const { run } = await harness(() => create())
      expect((await run('echo one')).output).toBe('one\n')
      cloud.server().stopMachines()
      const kept = (await run('echo two')).output
      expect(kept).toBe(cloud.keepsAtRest ? 'two\n' : `two\n${NEW_ONE}`)
      cloud.server().removeMachines()
      expect((await run('echo three')).output).toBe(`three\n${NEW_ONE}`)
      const end = () => cloud.server().stopMachines()
      await expect(run('echo up; sleep 60', { onOutput: end })).rejects.toMatchObject({
        code: expect.stringMatching(/^environment\.(sandbox_gone|connection_lost)$/),
      })
      expect((await run('echo four')).output).toMatch(/^four\n/)
      expect((await run('echo five')).output).toBe('five\n')
    })
  })

  it('goes on with a command when a connection is cut', async () => {
    const { run } = await harness(() => create())
    const once = { isCut: false }
    const onOutput = () => {
      if (!once.isCut) cloud.server().cut()
      once.isCut = true
    }
    expect(await run('echo one; sleep 0.5; echo two; exit 3', { onOutput })).toMatchObject({
      exitCode: 3,
      output: 'one\ntwo\n',
    })
  })

  it('keeps nobody waiting who stops a command, whatever the service does', async () => {
    let ahead = 0
    const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal)
    const clock = { now: () => Date.now() + ahead, sleep }
    const { run } = await harness(() => create({ clock }))
    const stopped = { exitCode: 130, canceled: true }
    for (const rest of [0, 200_000]) {
      // Fresh, a request of its own is held; after a rest, the one that looks for the sandbox.
      ahead += rest
      const controller = new AbortController()
      const held = cloud.server().hold()
      const running = run('sleep 60', { signal: controller.signal })
      await held
      controller.abort()
      expect(await running).toMatchObject(stopped)
      cloud.server().repair()
    }
    expect((await run('echo fine')).output).toBe('fine\n')
  })

  if (cloud.keepsAtRest) {
    it('is not woken up to be closed when it rests', async () => {
      let ahead = 0
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      const { run, environment } = await harness(() => create({ clock }))
      await run('true')
      ahead = 400_000
      const before = cloud.server().requests.length
      await environment.close()
      expect(cloud.server().requests.slice(before)).toEqual([])
    })
  }

  it('gives variables to commands alone, says what it is, moves large files byte by byte and leaves nothing of a command', async () => {
    const { run, environment } = await harness(() => create({ env: { TOKEN_OF_TEST: 'hunter2-of-test' } }))
    const { output } = await run('echo "$TOKEN_OF_TEST"; cat /proc/[0-9]*/cmdline | tr "\\0" " "')
    const [first, ...processes] = output.split('\n')
    expect(first).toBe('hunter2-of-test')
    expect(processes.join('\n')).not.toContain('hunter2-of-test')

    expect([environment.backend, environment.capabilities]).toEqual([
      cloud.backend,
      { background: true, pty: false, isolated: true },
    ])
    expect(await environment.probe()).toMatchObject({ backend: cloud.backend, cwd: environment.cwd() })

    const bytes = randomBytes(3_000_000)
    const path = environment.resolve('large')
    const action = { type: 'write', path, operation: 'write', backend: environment.backend } as const
    await environment.write(testPermit(action), path, bytes)
    expect(Buffer.compare((await environment.read(path))!, bytes)).toBe(0)
    if (cloud.bringing) expect(cloud.server().requests.some((line) => cloud.bringing!.test(line))).toBe(true)

    const mark = randomBytes(8).toString('hex')
    await run(`: ${mark}; cat >/dev/null`, { stdin: mark.repeat(10_000) })
    // In two pieces, or what looks would find itself.
    const looked = await run(`grep -lrs ${mark.slice(0, 8)}""${mark.slice(8)} /tmp/hermes-*; true`)
    expect(looked.output).toBe('')
  })

  describe('background processes', () => {
    it('are found again by the next program, with what they printed and how they ended meanwhile', async () => {
      const [outputDir, kept] = [await folder(), task()]
      const first = await harness(() => create({ outputDir, task: kept }))
      const lasting = await first.start('echo up; read line; echo "got $line"; sleep 60')
      const ending = await first.start('echo up; sleep 0.2; echo late; exit 3')
      while (!lasting.output().includes('up')) await new Promise((resolve) => setTimeout(resolve, 10))
      await first.environment.close({ keepProcesses: true })
      const second = await harness(() => create({ outputDir, task: kept }))
      const found = (id: string) => second.environment.processes().find((one) => one.info().id === id)!
      expect(await found(ending.info().id).wait()).toMatchObject({ status: 'exited', exitCode: 3 })
      expect(found(ending.info().id).output()).toBe('up\nlate\n')
      const again = found(lasting.info().id)
      expect(again.info()).toMatchObject({ pid: lasting.info().pid, status: 'running' })
      again.write('it\n')
      while (!again.output().includes('got it')) await new Promise((resolve) => setTimeout(resolve, 10))
      await again.kill()
      expect(await second.gone(String(lasting.info().pid))).toBe(true)
    })

    it('that were in a sandbox that ended are told to have ended', async () => {
      const { start } = await harness(() => create())
      const background = await start('sleep 60')
      cloud.server().stopMachines()
      expect(await background.wait()).toMatchObject({ status: 'exited', exitCode: null })
    })
  })
}
