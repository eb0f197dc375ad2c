import { randomBytes } from 'node:crypto'
import type { ProgramOutput } from '../remote/remote-host.js'

/** A service that runs command lines and gives back what they print as text, and moves files. */
export interface TextSandbox {
  /** Runs `/bin/sh -c line` with `env` beside its own variables, to its end. */
  run(
    line: string,
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly exitCode: number | null; readonly text: string }>
  /** Puts a file, readable by the user alone where that can be said. */
  upload(path: string, bytes: Uint8Array): Promise<void>
  download(path: string): Promise<Uint8Array>
}

/** The system takes 128 KiB in one variable. */
const MAX_VARIABLE_BYTES = 96 * 1024
/** Beyond this a reply is fetched as a file: bytes as text are a third larger, and services cut long ones off. */
const MAX_TEXT_BYTES = 512 * 1024

// The script and its input are variables of the shell or files, never part of a command line, which services show and keep. The reply
// is base64, because text cannot carry every byte.
const LINE = `__hermes_script=$HERMES_SCRIPT __hermes_text=$HERMES_TEXT __hermes_input=$HERMES_INPUT
unset HERMES_SCRIPT HERMES_TEXT HERMES_INPUT
case $__hermes_script in /tmp/hermes-script-*) __hermes_file=$__hermes_script; __hermes_script=$(cat "$__hermes_file"); rm -f "$__hermes_file" ;; esac
__hermes_reply=$(mktemp /tmp/hermes-reply-XXXXXXXX) || exit 1
if [ -n "$__hermes_input" ]; then ( eval "$__hermes_script" ) < "$__hermes_input" > "$__hermes_reply"; rm -f "$__hermes_input"
elif [ -n "$__hermes_text" ]; then printf %s "$__hermes_text" | base64 -d | ( eval "$__hermes_script" ) > "$__hermes_reply"
else ( eval "$__hermes_script" ) < /dev/null > "$__hermes_reply"; fi
if [ $(($(wc -c < "$__hermes_reply"))) -gt ${MAX_TEXT_BYTES} ]; then echo; echo "HERMES:file $__hermes_reply"
else echo; echo HERMES:text; base64 < "$__hermes_reply"; echo HERMES:end; rm -f "$__hermes_reply"; fi`

/** Runs a script by a service that knows only text. */
export async function converseByText(sandbox: TextSandbox, script: string, input: Uint8Array): Promise<ProgramOutput> {
  const env: Record<string, string> = { HERMES_SCRIPT: script, HERMES_TEXT: '', HERMES_INPUT: '' }
  if (Buffer.byteLength(script) > MAX_VARIABLE_BYTES) {
    env['HERMES_SCRIPT'] = await upload(sandbox, 'script', Buffer.from(script))
  }
  const text = input.length * 1.4 > MAX_VARIABLE_BYTES ? null : Buffer.from(input).toString('base64')
  if (text === null) env['HERMES_INPUT'] = await upload(sandbox, 'input', input)
  else env['HERMES_TEXT'] = text
  const reply = await sandbox.run(LINE, env)
  return { exitCode: reply.exitCode, stdout: await replyOf(sandbox, reply.text), stderr: reply.text.slice(-2_000) }
}

async function replyOf(sandbox: TextSandbox, reply: string): Promise<Buffer> {
  const file = /^HERMES:file (\/tmp\/hermes-reply-\w+)/m.exec(reply)?.[1]
  if (file !== undefined) {
    const bytes = Buffer.from(await sandbox.download(file))
    await sandbox.run(`rm -f ${file}`, {})
    return bytes
  }
  const [, text] = /^HERMES:text\r?\n([\s\S]*?)^HERMES:end/m.exec(reply) ?? []
  return Buffer.from(text ?? '', 'base64')
}

async function upload(sandbox: TextSandbox, what: 'script' | 'input', bytes: Uint8Array): Promise<string> {
  const path = `/tmp/hermes-${what}-${randomBytes(8).toString('hex')}`
  await sandbox.upload(path, bytes)
  return path
}
