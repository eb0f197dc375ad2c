// Many questions, one after the other, each in a session of its own.
//
//   FILE ─▶ questions ─▶ without those whose answer FILE.answers.jsonl has ─▶ one run each ─▶ a line there, at once
import { appendFile, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { createSessionHost, unattendedMode } from '@hermes/host'
import type { ChatOptions } from './chat-options.js'
import { agentOptions, chosenAccount, openOptions } from './chat-options.js'
import { EXIT, UsageError } from './errors.js'
import type { Io } from './io.js'
import { openCli } from './open-cli.js'
import { printable } from './render/style.js'

/** One line of what came of a batch. */
interface Answer {
  readonly prompt: string
  readonly status: string
  readonly text: string
  readonly session: string
  readonly error?: string
}

const SHOWN_CHARS = 60

/**
 * Asks every question of a file that has no answer yet. Answers are appended to `FILE.answers.jsonl` as they come, so that the same line goes on
 * after a stop; what did not complete is asked again then.
 */
export async function batch(io: Io, file: string, options: ChatOptions): Promise<number> {
  const path = resolve(io.cwd, file)
  const prompts = promptsIn(await textAt(file, path))
  if (prompts.length === 0) throw new UsageError(`--batch: ${file} has no questions.`)
  const answers = `${path}.answers.jsonl`
  const written = await readFile(answers, 'utf8').catch(() => '')
  const done = completedIn(written)
  const open = [...new Set(prompts)].filter((prompt) => !done.has(prompt))
  const say = (line: string) => io.stderr.write(`${printable(line)}\n`)
  const all = new Set(prompts).size
  if (open.length < all) say(`${all - open.length} of ${all} have their answer already.`)
  const runtime = await openCli(io, { yolo: options.yolo ?? false, ...openOptions(options) })
  const host = createSessionHost({ runtime, leavesJobs: true })
  const stop = new AbortController()
  const stopListening = io.onInterrupt(() =>
    stop.abort(new DOMException('interrupted from the terminal', 'AbortError')),
  )
  let failed = 0
  // Half a line, of a stop while it was written, takes no answer with it.
  let lead = /[^\n]$/.test(written) ? '\n' : ''
  try {
    for (const [index, prompt] of open.entries()) {
      if (stop.signal.aborted) break
      const handle = host.open({
        ...agentOptions(options),
        platform: 'oneshot',
        cwd: io.cwd,
        firstText: prompt,
        notices: false,
        permissions: unattendedMode('oneshot', runtime.config.approvals),
      })
      if (options.account !== undefined) await (await handle.agent()).useAccount(chosenAccount(options.account))
      const { status, text, error } = await handle.send(prompt, { signal: stop.signal }).result
      const known = error === undefined ? {} : { error: error.message }
      const answer: Answer = { prompt, status, text, session: handle.id, ...known }
      await appendFile(answers, `${lead}${JSON.stringify(answer)}\n`, { mode: 0o600 })
      lead = ''
      if (status !== 'completed') failed++
      say(`[${all - open.length + index + 1}/${all}] ${status}: ${shortened(prompt)}`)
      await handle.end(status)
      handle.close()
    }
  } finally {
    stopListening()
    await host.settle()
    await runtime.close(stop.signal.aborted ? 'interrupted' : 'completed')
  }
  io.stdout.write(`${answers}\n`)
  if (stop.signal.aborted) return EXIT.interrupted
  if (failed > 0) say(`${failed} did not complete; the same command asks them again.`)
  return failed > 0 ? EXIT.failed : EXIT.ok
}

async function textAt(file: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--batch ${file}: ${errorLine(error)}`)
  })
}

/** A question a line: as it is, or as `prompt` of a JSON object. Empty lines are none. */
export function promptsIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const words = line.trim()
    if (words === '') return []
    if (!words.startsWith('{')) return [words]
    const { prompt } = objectIn(words) ?? {}
    if (typeof prompt === 'string' && prompt.trim() !== '') return [prompt]
    throw new UsageError(`--batch: line ${index + 1} is no JSON object with a "prompt".`)
  })
}

/** Questions whose run has completed; a line that was not written whole counts for nothing. */
function completedIn(written: string): ReadonlySet<string> {
  const found = written
    .split('\n')
    .map(objectIn)
    .filter((line) => line !== null)
  return new Set(found.filter(({ status }) => status === 'completed').map(({ prompt }) => String(prompt)))
}

function objectIn(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value as never) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function shortened(prompt: string): string {
  const flat = prompt.replace(/\s+/g, ' ')
  return flat.length > SHOWN_CHARS ? `${flat.slice(0, SHOWN_CHARS - 1)}…` : flat
}
