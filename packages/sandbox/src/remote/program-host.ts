import { spawn } from 'node:child_process'
import { HermesError } from '@hermes/contracts'
import { quote } from '../shell/command-text.js'
import type { Launch, RemoteStart } from '../shell/remote-start.js'
import { missingDirectory } from '../shell/session.js'
import type { RemoteCommand } from './exec-script.js'
import { backgroundScript } from './exec-script.js'
import type { HostClient, ProgramOutput, RemoteHost, RemoteStream, StreamListener } from './remote-host.js'
import { START_LINE, scriptLine } from './shell-text.js'

/** Far beyond any file or list; programs over there may be anybody's, those that answer included. */
const MAX_REPLY_BYTES = 2 ** 30

/** A way there by a program of this machine, such as `ssh` or `docker exec`. */
export abstract class ProgramHost implements RemoteHost {
  readonly hasPty = true
  protected readonly maxReplyBytes: number = MAX_REPLY_BYTES
  abstract readonly backend: string
  abstract readonly name: string
  abstract readonly isolated: boolean

  abstract connect(): Promise<void>

  /**
   * The client that runs `line`, a command line without secrets, with its three standard streams as plain pipes. A client that `lasts`
   * goes on when this program and the connection it shares are gone.
   */
  abstract client(line: string, options?: { readonly lasts?: boolean }): HostClient

  abstract failure(exitCode: number | null, stderr: string): HermesError

  abstract close(options: { readonly keepProcesses: boolean }): Promise<void>

  converse(script: string, input: Uint8Array): Promise<ProgramOutput> {
    return converse(this.client(START_LINE), scriptLine(script), { input, maxBytes: this.maxReplyBytes })
  }

  stream(script: string, input: string, listener: StreamListener): RemoteStream {
    const client = this.client(START_LINE)
    const child = startClient(client)
    const stderr: Buffer[] = []
    child.stdout.on('data', listener.onOutput)
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.stdin.on('error', () => undefined)
    child.stdin.write(scriptLine(script))
    child.stdin.end(input)
    child.once('error', (error) => listener.onClose(clientMissing(client.program, error)))
    const closed = new Promise<void>((resolve) => {
      child.once('close', (exitCode) => {
        listener.onClose(this.failure(exitCode, Buffer.concat(stderr).toString('utf8')))
        resolve()
      })
    })
    return { closed, stop: () => void child.kill(), leave: () => leave(child) }
  }

  background(remote: RemoteCommand, mark: string): RemoteStart {
    return { type: 'client', launch: remoteLaunch(this, remote, mark) }
  }
}

/** What processes left behind still write is read and dropped, so that they neither block nor get SIGPIPE; it keeps nobody alive. */
function leave(child: ReturnType<typeof startClient>): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream.removeAllListeners('data')
    stream.resume()
    ;(stream as unknown as { unref?: () => void }).unref?.()
  }
  child.unref()
}

function converse(
  client: HostClient,
  line: string,
  { input, maxBytes }: { readonly input: Uint8Array; readonly maxBytes: number },
): Promise<ProgramOutput> {
  const child = startClient(client)
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  let left = maxBytes
  const take = (chunks: Buffer[]) => (chunk: Buffer) => {
    left -= chunk.length
    if (left >= 0) chunks.push(chunk)
    else {
      child.kill('SIGKILL')
      // What it started may hold them open.
      child.stdout.destroy()
      child.stderr.destroy()
    }
  }
  child.stdout.on('data', take(stdout))
  child.stderr.on('data', take(stderr))
  child.stdin.on('error', () => undefined)
  child.stdin.write(line)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(clientMissing(client.program, error)))
    child.once('close', (exitCode) => {
      if (left < 0) reject(tooMuch(client.program, maxBytes))
      else resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') })
    })
  })
}

/** Starts a client in a session of its own: what a terminal sends to this program is not meant for it. */
function startClient({ program, args, env }: HostClient) {
  return spawn(program, args, { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
}

/** A client that is not installed. */
export function clientMissing(program: string, cause: unknown): HermesError {
  return new HermesError(`The program ${program} cannot be started; install it and see that it is in PATH.`, {
    code: 'environment.client_missing',
    details: { program },
    cause,
  })
}

function tooMuch(program: string, limitBytes: number): HermesError {
  return new HermesError(
    `The other side of ${program} answered with more than ${limitBytes} bytes, so it was cut off.`,
    {
      code: 'environment.too_much_output',
      details: { program, limitBytes },
    },
  )
}

/** What starts clients. */
interface ClientHost {
  client(line: string, options: { readonly lasts: boolean }): HostClient
  failure(exitCode: number | null, stderr: string): HermesError
}

/** Starts `remote` as a background process over there, by a client here that carries its input and output. */
function remoteLaunch(host: ClientHost, remote: RemoteCommand, mark: string): Launch {
  const client = host.client(START_LINE, { lasts: true })
  return {
    command: (report) => `${[client.program, ...client.args].map(quote).join(' ')} 2>${quote(report)}`,
    env: client.env,
    input: scriptLine(backgroundScript(remote, mark)),
    started(report) {
      const output = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
      return output && { pid: Number(output[1]), startTime: output[2]! }
    },
    failure(exitCode, report) {
      if (!report.includes(`${mark} gone`)) return host.failure(exitCode, report)
      return missingDirectory(remote.cwd)
    },
  }
}
