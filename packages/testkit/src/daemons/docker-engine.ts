import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeBusyboxRoot } from './busybox-root.js'
import { findProgram, missingPrograms } from './programs.js'

/** A real docker engine on a socket of its own, without a network. */
export interface DockerEngine {
  /** Variables a docker client needs to reach it. */
  readonly env: Readonly<Record<string, string>>
  /** An image with busybox and nothing else. */
  readonly image: string
  /** A folder for files of the test; removed with the engine. */
  readonly directory: string
  /** Ends all containers and the engine. */
  stop(): Promise<void>
}

/** What keeps {@link startDockerEngine} from working here; `null` when nothing does. */
export function dockerMissing(): string | null {
  const missing = missingPrograms('dockerd', 'docker', 'containerd', 'runc', 'busybox')
  return missing ?? (process.getuid?.() === 0 ? null : 'not root')
}

/** Starts dockerd; takes some seconds. @throws when it is missing or does not start. */
export async function startDockerEngine(): Promise<DockerEngine> {
  const dockerd = findProgram('dockerd')
  if (dockerd === null) throw new Error('dockerd is not installed.')
  const directory = await mkdtemp('/tmp/hermes-docker-')
  const socket = join(directory, 'docker.sock')
  const env = { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory, DOCKER_HOST: `unix://${socket}` }
  const folders = ['--data-root', join(directory, 'data'), '--exec-root', join(directory, 'run')]
  // The machine's own network is left alone; limits that the machine may not raise stay as they are.
  const args = [
    '--host',
    env.DOCKER_HOST,
    ...folders,
    '--pidfile',
    join(directory, 'pid'),
    '--bridge=none',
    '--iptables=false',
  ]
  const daemon = spawn(dockerd, [...args, '--default-ulimit', 'nofile=4096:4096'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await answers(daemon.stderr, daemon)
  const image = 'hermes-test/busybox:latest'
  await importBusybox(image, directory, env)
  return {
    env,
    image,
    directory,
    async stop() {
      const ids = execFileSync('docker', ['ps', '--all', '--quiet'], { env, encoding: 'utf8' })
        .split('\n')
        .filter(Boolean)
      if (ids.length > 0) execFileSync('docker', ['rm', '--force', ...ids], { env, stdio: 'ignore' })
      const ended = new Promise((resolve) => daemon.once('exit', resolve))
      daemon.kill()
      await ended
      await endContainerd(join(directory, 'run'))
      // Left by containers in the machine's own network.
      spawnSync('umount', [join(directory, 'run/netns/default')], { stdio: 'ignore' })
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The engine's helper is normally ended by it. */
async function endContainerd(run: string): Promise<void> {
  const pid = Number(await readFile(join(run, 'containerd', 'containerd.pid'), 'utf8').catch(() => ''))
  if (pid > 1) process.kill(pid)
}

async function importBusybox(image: string, directory: string, env: Readonly<Record<string, string>>): Promise<void> {
  const root = join(directory, 'root')
  await makeBusyboxRoot(root)
  const archive = join(directory, 'root.tar')
  execFileSync('tar', ['-C', root, '-cf', archive, '.'])
  execFileSync('docker', ['import', archive, image], { env, stdio: 'ignore' })
}

function answers(stderr: NodeJS.ReadableStream, daemon: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000)
      if (text.includes('API listen on')) resolve()
    })
    daemon.once('exit', () => reject(new Error(`dockerd did not start: ${text}`)))
  })
}
