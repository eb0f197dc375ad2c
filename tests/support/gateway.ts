import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import OpenAI from 'openai'
import { cliEnv } from './cli.js'
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
  readonly child: ChildProcess
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

/** Starts it on a free port and waits until it listens. */
export async function startGateway(args: readonly string[], options: GatewayOptions): Promise<Gateway> {
  const { home, cwd, env = { API_SERVER_KEY: KEY }, program = [GATEWAY] } = options
  if (!options.titles) withoutTitles(home)
  const child = spawn(process.execPath, [...program, '--port', '0', ...args], {
    cwd,
    env: cliEnv({ home, env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const baseUrl = await new Promise<string>((found, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const address = /http:\S+\/v1/.exec(stdout)
      if (address) found(address[0])
    })
    void closed.then(([code]) => failed(new Error(`the gateway ended with ${code}: ${stderr}`)))
  })
  return {
    child,
    baseUrl,
    stdout: () => stdout,
    stderr: () => stderr,
    client: ({ apiKey = KEY, headers } = {}) =>
      new OpenAI({ apiKey, baseURL: baseUrl, maxRetries: 0, ...(headers ? { defaultHeaders: headers } : {}) }),
    request: (path, { body, headers = { authorization: `Bearer ${KEY}` } } = {}) =>
      fetch(`${baseUrl}${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }) }),
    stop: async () => {
      child.kill('SIGTERM')
      return (await closed)[0]
    },
  }
}
