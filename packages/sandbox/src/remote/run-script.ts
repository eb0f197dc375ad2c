import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { HostClient, RemoteHost } from './remote-host.js'
import { START_LINE, scriptLine } from './shell-text.js'

/** What a script said. */
interface ScriptReply {
  readonly ok: boolean
  readonly stdout: Buffer
  /** What went wrong, in the C locale; empty when nothing did. */
  readonly stderr: string
}

/**
 * Runs a script on the other side to its end, with `input` as its standard input. A script that fails is a reply; a connection that
 * does is an error.
 * @throws HermesError what the host makes of its client's failure.
 */
export async function runScript(
  host: RemoteHost,
  script: string,
  input: Uint8Array = new Uint8Array(),
): Promise<ScriptReply> {
  await host.connect()
  const mark = randomBytes(8).toString('hex')
  const line = scriptLine(`LC_ALL=C; export LC_ALL
{ __hermes_error=$( { ${script}
} 2>&1 >&3 3>&- ); __hermes_status=$?; } 3>&1
printf '\\0%s %s\\n%s' ${mark} "$__hermes_status" "$__hermes_error"`)
  const { exitCode, stdout, stderr } = await converse(host.client(START_LINE), line, input)
  const at = stdout.lastIndexOf(`\0${mark} `)
  if (at === -1) throw host.failure(exitCode, stderr)
  const [, status, error = ''] = /^ (\d+)\n([\s\S]*)$/.exec(stdout.toString('utf8', at + 1 + mark.length)) ?? []
  return { ok: status === '0', stdout: stdout.subarray(0, at), stderr: error }
}

interface Said {
  readonly exitCode: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

function converse(client: HostClient, line: string, input: Uint8Array): Promise<Said> {
  const child = startClient(client)
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.write(line)
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(clientMissing(client.program, error)))
    child.once('close', (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') }),
    )
  })
}

/** Starts a client in a session of its own: what a terminal sends to this program is not meant for it. */
export function startClient({ program, args, env }: HostClient) {
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
