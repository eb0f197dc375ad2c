import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DockerEngine, dockerMissing, needs, startDockerEngine } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import { type DockerOptions, openDockerEnvironment, probeDocker } from './open-docker.js'

needs(dockerMissing())('in a container', () => {
  let engine: DockerEngine
  let shared: string
  let count = 0
  beforeAll(async () => {
    engine = await startDockerEngine()
    shared = join(engine.directory, 'shared')
    await mkdir(shared)
  })
  afterAll(() => engine.stop())

  const docker = (...args: string[]) => execFileSync('docker', args, { env: engine.env, encoding: 'utf8' }).trim()

  const folder = temporaryFolders('hermes-docker-out-')

  async function create(more: Partial<DockerOptions> = {}) {
    const outputDir = await folder()
    const name = `case-${++count}`
    await mkdir(join(shared, name))
    const environment = await openDockerEnvironment({
      image: engine.image,
      clientEnv: engine.env,
      outputDir,
      network: false,
      memoryMb: 256,
      mounts: [{ source: shared, target: '/workspace' }],
      cwd: `/workspace/${name}`,
      ...more,
    })
    return { environment, dispose: () => environment.close() }
  }

  testEnvironment({ name: 'docker', create, only: sampleFor('docker', 10) })

  describe('docker environment', () => {
    it('is hardened: capabilities, privileges, limits, network, private temporary folders', async () => {
      const { run, environment } = await harness(create)
      const { output } = await run(
        'grep -E "CapBnd|NoNewPrivs" /proc/self/status; cd /sys/fs/cgroup; cat memory.max memory/memory.limit_in_bytes pids.max pids/pids.max 2>/dev/null; ls /sys/class/net; mount | grep -c " on /tmp type tmpfs"',
      )
      // CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, SETGID 6, SETUID 7.
      expect(output.replaceAll('\t', ' ').split('\n')).toEqual([
        'CapBnd: 00000000000000cb',
        'NoNewPrivs: 1',
        '268435456',
        '256',
        'lo',
        '1',
        '',
      ])
      expect(environment.capabilities).toEqual({ background: true, pty: false, isolated: true })
      expect(await environment.probe()).toMatchObject({
        backend: 'docker',
        user: 'root',
        home: '/root',
        shell: '/bin/sh',
      })
    })

    it('has temporary folders with limits of their own, as many cores as asked for, and variables that neither its description nor any list of processes shows', async () => {
      const env = { TOKEN_OF_TEST: 'hunter2-of-test' }
      const { run } = await harness(() => create({ task: 'limits', cpus: 0.5, shmSize: '64m', env }))
      const { output } = await run('grep -E " (/tmp|/var/tmp|/run|/dev/shm) " /proc/mounts')
      const mount = (path: string) => output.split('\n').find((line) => line.split(' ')[1] === path)
      expect(mount('/tmp')).toMatch(/nosuid.*size=524288k/)
      expect(mount('/var/tmp')).toMatch(/nosuid.*noexec.*size=262144k/)
      expect(mount('/run')).toMatch(/nosuid.*noexec.*size=65536k/)
      expect(mount('/dev/shm')).toContain('size=65536k')
      const id = docker('ps', '--quiet', '--filter', 'label=hermes.task=limits')
      expect(docker('inspect', '--format', '{{.HostConfig.NanoCpus}}', id)).toBe('500000000')
      const shown = (await run('echo "$TOKEN_OF_TEST"; cat /proc/[0-9]*/cmdline')).output
      expect(shown).toMatch(/^hunter2-of-test\n/)
      expect(shown.slice(20)).not.toContain('hunter2-of-test')
      expect(docker('inspect', id)).not.toContain('hunter2')
    })

    it('keeps background processes for the next program, which finds them again and can end them', async () => {
      const outputDir = await folder()
      const requested = { task: 'processes', outputDir, mounts: [] as const, cwd: '/workspace' }
      const first = await harness(() => create(requested))
      const started = await first.start('echo up; sleep 60')
      while (!started.output().includes('up')) await new Promise((resolve) => setTimeout(resolve, 10))
      await first.environment.close({ keepProcesses: true })
      const second = await harness(() => create(requested))
      const [found] = second.environment.processes()
      expect(found!.info()).toMatchObject({ pid: started.info().pid, status: 'running' })
      expect(found!.output()).toBe('up\n')
      await found!.kill()
      expect(await second.gone(String(started.info().pid))).toBe(true)
    })

    it('is shared by those who open the same task, and stays when they close', async () => {
      const task = { task: 'shared', mounts: [] as const, cwd: '/workspace' }
      const first = await harness(() => create(task))
      await first.run('echo kept > /root/note')
      await first.environment.close()
      const second = await harness(() => create(task))
      expect(await second.read('/root/note')).toBe('kept\n')
      expect(docker('ps', '--quiet', '--filter', 'label=hermes.task=shared').split('\n')).toHaveLength(1)
      const other = await harness(() => create({ ...task, task: 'other' }))
      expect(await other.read('/root/note')).toBeNull()
    })

    it('is removed by the last of those who share it', async () => {
      const outputDir = await mkdtemp(join(tmpdir(), 'hermes-docker-shared-'))
      onTestFinished(() => rm(outputDir, { recursive: true, force: true }))
      const make = () => create({ task: 'by turns', persistent: false, outputDir, mounts: [], cwd: '/workspace' })
      const [first, second] = [await harness(make), await harness(make)]
      await first.run('echo here > note')
      await first.environment.close()
      expect((await second.run('cat note')).output).toBe('here\n')
      await second.environment.close()
      expect(docker('ps', '--all', '--quiet', '--filter', 'label=hermes.task=by turns')).toBe('')
    })

    it('says that it is gone when somebody removed it, and starts anew with the next command', async () => {
      const { run, environment } = await harness(() => create({ task: 'removed' }))
      docker('rm', '--force', docker('ps', '--quiet', '--filter', 'label=hermes.task=removed'))
      await expect(run('true')).rejects.toMatchObject({ code: 'environment.container_gone', retryable: true })
      const again = await run('echo again; pwd')
      expect(again.output).toMatch(
        new RegExp(`^again\\n${environment.cwd()}\\n\\[The container is a new one: .*\\]\\n$`),
      )
      expect((await run('echo more')).output).toBe('more\n')
    })

    it('stops by itself when nothing runs in it, and is started again', async () => {
      let nowMs = Date.now()
      const clock = { now: () => nowMs, sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) }
      const { run } = await harness(() =>
        create({ task: 'idle', idleSeconds: 1, mounts: [], cwd: '/workspace', clock }),
      )
      await run('echo kept > /root/note')
      const id = docker('ps', '--all', '--quiet', '--filter', 'label=hermes.task=idle')
      docker('wait', id)
      nowMs += 60_000
      expect((await run('cat /root/note')).output).toBe('kept\n')
    })

    it('removes containers of ours that ended long ago, and no others', async () => {
      const ended = (label: string) => {
        const id = docker('run', '--detach', '--network', 'none', '--label', label, engine.image, 'true')
        docker('wait', id)
        return id
      }
      const ours = ended('hermes.managed=1')
      const others = ended('somebody=1')
      const late = { now: () => Date.now() + 3_600_000, sleep: () => new Promise<void>(() => undefined) }
      await harness(() => create({ clock: late }))
      const left = docker('ps', '--all', '--quiet', '--no-trunc').split('\n')
      expect([left.includes(ours), left.includes(others)]).toEqual([false, true])
    })

    it('says what is wrong with an image, a mount and an engine, and leaves nothing behind', async () => {
      const requested = { task: 'wrong', image: '127.0.0.1:1/none:latest' }
      await expect(create(requested)).rejects.toMatchObject({ code: 'environment.image_missing' })
      await expect(create({ image: '--privileged' })).rejects.toMatchObject({ code: 'environment.invalid_image' })
      await expect(create({ mounts: [{ source: '/a:/b', target: '/c' }] })).rejects.toMatchObject({
        code: 'environment.invalid_mount',
      })
      expect(docker('ps', '--all', '--quiet', '--filter', 'label=hermes.task=wrong')).toBe('')
      const clientEnv = { ...engine.env, DOCKER_HOST: `unix://${engine.directory}/none.sock` }
      await expect(create({ clientEnv })).rejects.toMatchObject({ code: 'environment.engine_unavailable' })
    })

    it('tells whether an engine is ready, and why not', async () => {
      expect(await probeDocker({ clientEnv: engine.env })).toMatchObject({ ready: true })
      const clientEnv = { ...engine.env, DOCKER_HOST: `unix://${engine.directory}/none.sock` }
      expect(await probeDocker({ clientEnv })).toEqual({
        ready: false,
        why: 'The container engine does not answer. Start it, or set another terminal backend.',
      })
      expect(await probeDocker({ program: 'no-such-engine', clientEnv })).toMatchObject({ ready: false })
    })
  })
})
