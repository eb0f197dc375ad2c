import { spawn } from 'node:child_process'
import { HermesError } from '@hermes/contracts'
import { clientMissing } from '../remote/program-host.js'

/** A container engine by its command line: docker, or podman, which takes the same. */
export interface EngineOptions {
  /** A name looked for in the client's PATH, or a path. */
  readonly program: string
  /** Variables of the client itself, for example `PATH`, `HOME` and `DOCKER_HOST`. */
  readonly env: Readonly<Record<string, string>>
}

interface ProgramOutput {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Asks the engine. @throws HermesError `environment.client_missing`, `environment.engine_timeout`. */
export function askEngine(
  { program, env }: EngineOptions,
  args: readonly string[],
  limitMs: number,
): Promise<ProgramOutput> {
  const child = spawn(program, args, { cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(
        new HermesError(
          `${program} did not answer within ${Math.round(limitMs / 1000)} s; see whether its engine runs.`,
          {
            code: 'environment.engine_timeout',
            retryable: true,
          },
        ),
      )
    }, limitMs)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(clientMissing(program, error))
    })
    child.once('close', (exitCode) => {
      clearTimeout(timer)
      const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8')
      resolve({ exitCode, stdout: text(stdout), stderr: text(stderr) })
    })
  })
}

const CAUSES: readonly {
  readonly words: RegExp
  readonly code: string
  readonly retryable?: boolean
  readonly line: string
}[] = [
  {
    words: /permission denied.*(docker|podman).*sock|dial unix .*permission denied/is,
    code: 'engine_permission',
    line: 'You may not use the container engine: add your user to its group, or use a rootless engine.',
  },
  {
    words: /Cannot connect to the Docker daemon|Is the docker daemon running|unable to connect to Podman|dial unix/i,
    code: 'engine_unavailable',
    retryable: true,
    line: 'The container engine does not answer. Start it, or set another terminal backend.',
  },
  {
    words:
      /No such image|Unable to find image|initializing source docker:|pull access denied|manifest unknown|repository .* not found|image not known|short-name .* did not resolve/i,
    code: 'image_missing',
    line: 'The container image is not there and cannot be pulled. Check its name and the network.',
  },
  {
    words: /container-init binary not found|docker-init.*not found/i,
    code: 'engine_incomplete',
    line: 'The container engine lacks its init program: install catatonit for podman, tini for docker.',
  },
  {
    words: /No such container|is not running|no container with name or ID|container state improper/i,
    code: 'container_gone',
    retryable: true,
    line: 'The container is gone. The next command starts another; what was written outside mounted folders is lost.',
  },
  {
    words: /exec(utable)?[^\n]*(\/bin\/sh|sh)[^\n]*(not found|no such file)/i,
    code: 'unusable',
    line: 'The container image has no /bin/sh; use one with a shell.',
  },
]

/** A failure of the engine's client as one line. */
export function engineFailure(exitCode: number | null, stderr: string): HermesError {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !/^(See|Run) '/.test(line))
  const last = lines.at(-1)?.trim() ?? ''
  const cause = CAUSES.find(({ words }) => words.test(stderr))
  const details = { exitCode, ...(last === '' ? {} : { said: last }) }
  if (cause) {
    const { code, line, retryable = false } = cause
    return new HermesError(line, { code: `environment.${code}`, retryable, details })
  }
  return new HermesError(`The container engine failed${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}.`, {
    code: 'environment.engine_failed',
    details,
  })
}
