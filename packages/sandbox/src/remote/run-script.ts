import { randomBytes } from 'node:crypto'
import type { RemoteHost } from './remote-host.js'

/** What a script came to. */
interface ScriptReply {
  readonly ok: boolean
  readonly stdout: Buffer
  /** What went wrong, in the C locale; empty when nothing did. */
  readonly stderr: string
}

/**
 * Runs a script on the other side to its end, with `input` as its standard input. A script that fails is a reply; a connection that
 * does is an error.
 * @throws HermesError what the host makes of its way's failure.
 */
export async function runScript(
  host: Pick<RemoteHost, 'connect' | 'converse' | 'failure'>,
  script: string,
  input: Uint8Array = new Uint8Array(),
): Promise<ScriptReply> {
  await host.connect()
  const mark = randomBytes(8).toString('hex')
  const text = `LC_ALL=C; export LC_ALL
{ __hermes_error=$( { ${script}
} 2>&1 >&3 3>&- ); __hermes_status=$?; } 3>&1
printf '\\0%s %s\\n%s' ${mark} "$__hermes_status" "$__hermes_error"`
  const { exitCode, stdout, stderr } = await host.converse(text, input)
  const at = stdout.lastIndexOf(`\0${mark} `)
  if (at === -1) throw host.failure(exitCode, stderr)
  const [, status, error = ''] = /^ (\d+)\n([\s\S]*)$/.exec(stdout.toString('utf8', at + 1 + mark.length)) ?? []
  return { ok: status === '0', stdout: stdout.subarray(0, at), stderr: error }
}
