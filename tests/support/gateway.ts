import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import OpenAI from 'openai'
import { cliEnv } from './cli.js'
import { ALWAYS_A_PROCESS, startWithin } from './within.js'
import { withoutTitles } from './without-titles.js'

/** The built gateway, as users start it. */
export const GATEWAY = resolve(import.meta.dirname, '../../apps/gateway/dist/bin.js')

/** The key of gateways that tests start, unless they say otherwise. */
export const KEY = 'the-key-of-a-test-0123456789'

/** How to start it. */
export interface GatewayOptions {
  readonly home: string
  readonly cwd: string
  /** Default: {@link KEY} as API_SERVER_KEY. */
  readonly env?: Readonly<Record<string, string>>
  /** Program and arguments before the flags. Default: {@link GATEWAY}. */
  readonly program?: readonly string[]
  /** Leaves the home as it is; otherwise {@link withoutTitles}. */
  readonly titles?: boolean
}

/** A gateway that listens. */
export interface Gateway {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  /** What it has written so far. */
  stdout(): string
  stderr(): string
  /** The official client, which does not try again by itself. */
  client(options?: { readonly apiKey?: string; readonly headers?: Record<string, string> }): OpenAI
  /** A request without any client in between; the key is sent unless `headers` say otherwise. */
  request(
    path: string,
    options?: { readonly body?: RequestInit['body']; readonly headers?: Record<string, string> },
  ): Promise<Response>
  /** Sends SIGTERM and gives the exit code. */
  stop(): Promise<number | null>
}

/** A gateway in a process of its own. */
export interface GatewayProcess extends Gateway {
  readonly child: ChildProcess
}

/**
 * Starts it on a free port, within this process, and waits until it listens: what only a process shows (a kill, its number, its memory)
 * takes {@link startGatewayProcess}.
 */
export async function startGateway(
  args: readonly string[],
  options: Omit<GatewayOptions, 'program'>,
): Promise<Gateway> {
  if (ALWAYS_A_PROCESS) return startGatewayProcess(args, options)
  const { home, cwd, env = { API_SERVER_KEY: KEY } } = options
  if (!options.titles) withoutTitles(home)
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough(), stderr: new PassThrough() }
  const running = startWithin({
    program: GATEWAY,
    args: ['--port', '0', ...args],
    env: cliEnv({ home, env }),
    cwd,
    ...streams,
  })
  return listening({ ...streams, ended: running.ended, end: () => running.signal('SIGTERM') })
}

/** Starts it as users do, on a free port, and waits until it listens. */
export async function startGatewayProcess(args: readonly string[], options: GatewayOptions): Promise<GatewayProcess> {
  const { home, cwd, env = { API_SERVER_KEY: KEY }, program = [GATEWAY] } = options
  if (!options.titles) withoutTitles(home)
  const child = spawn(process.execPath, [...program, '--port', '0', ...args], {
    cwd,
    env: cliEnv({ home, env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = (once(child, 'close') as Promise<[number | null]>).then(([code]) => code)
  return {
    ...(await listening({ stdout: child.stdout, stderr: child.stderr, ended, end: () => child.kill('SIGTERM') })),
    child,
  }
}

interface Started {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<number | null>
  end(): void
}

async function listening(started: Started): Promise<Gateway> {
  let stdout = ''
  let stderr = ''
  started.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const baseUrl = await new Promise<string>((found, failed) => {
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const address = /http:\S+\/v1/.exec(stdout)
      if (address) found(address[0])
    })
    void started.ended.then((code) => failed(new Error(`the gateway ended with ${code}: ${stderr}`)), failed)
  })
  return {
    baseUrl,
    stdout: () => stdout,
    stderr: () => stderr,
    client: ({ apiKey = KEY, headers } = {}) =>
      new OpenAI({ apiKey, baseURL: baseUrl, maxRetries: 0, ...(headers ? { defaultHeaders: headers } : {}) }),
    request: (path, { body, headers = { authorization: `Bearer ${KEY}` } } = {}) =>
      fetch(`${baseUrl}${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }) }),
    stop: async () => {
      started.end()
      return started.ended
    },
  }
}
