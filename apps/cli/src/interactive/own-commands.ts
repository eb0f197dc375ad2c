// Commands that a person runs themselves, typed behind `!`.
import type { RunInput } from '@hermes/agent-core'
import type { TextSource } from '@hermes/contracts/conversation'
import type { ExecResult } from '@hermes/contracts/environment'
import { describeFailure } from '../errors.js'
import { printable } from '../render/style.js'
import type { Console } from './console.js'
import type { OpenSession } from './open-session.js'
import type { Written } from './written.js'

/** They run as the person, with all they can reach. */
const OWN: readonly TextSource[] = [{ type: 'person', name: 'a command that you ran' }]

/** What follows `!` at the beginning of a line, a command of the person's own; `null` for any other line. */
export function ownCommand(line: string): string | null {
  return /^!\s*(\S.*)$/s.exec(line.trim())?.[1] ?? null
}

/** Runs them, and keeps what came of those that the model has not seen. */
export class OwnCommands {
  readonly #written: Written
  readonly #ended: AbortSignal
  readonly #running = new Set<AbortController>()
  #reports: string[] = []

  /** Those that still run end with `ended`. */
  constructor(written: Written, ended: AbortSignal) {
    this.#written = written
    this.#ended = ended
  }

  /** Runs one; `aside` while the agent may be using the shell. Never rejects. */
  async run(
    command: string,
    { session, console, aside }: { readonly session: OpenSession; readonly console: Console; readonly aside: boolean },
  ): Promise<void> {
    const stop = new AbortController()
    this.#running.add(stop)
    const signal = AbortSignal.any([stop.signal, this.#ended])
    if (!aside) console.setStatus([`· Esc stops · ${printable(command)}`])
    try {
      const onOutput = (text: string) => this.#written.stream.write(printable(text))
      const result = await session.runOwnCommand(command, { signal, onOutput, aside })
      this.#written.endLine()
      const end = describeEnd(result)
      if (end !== null) this.#written.say(end)
      this.#reports.push(report(command, result))
    } catch (error) {
      this.#written.say(describeFailure(error).line)
    } finally {
      this.#running.delete(stop)
    }
  }

  /** Ends those that run; `false` when there are none. */
  stop(): boolean {
    for (const stop of this.#running) stop.abort()
    return this.#running.size > 0
  }

  /** Puts what was run since the last message before `input`, once. */
  before(input: RunInput): RunInput {
    const words =
      typeof input === 'string' ? [{ type: 'text', text: input } as const] : 'content' in input ? input.content : null
    if (words === null || this.#reports.length === 0) return input
    const reports = this.#reports
      .splice(0)
      .map((text) => ({ type: 'text', text, origin: 'external', sources: OWN }) as const)
    return { content: [...reports, ...words] }
  }

  /** Another conversation does not hear of them. */
  forget(): void {
    this.#reports = []
  }
}

/** How a command ended, where that is worth a line: not when it went well. */
function describeEnd({ exitCode, signal, timedOut, canceled }: ExecResult): string | null {
  if (canceled) return '[stopped]'
  if (timedOut) return '[stopped after 10 minutes]'
  if (exitCode === 0) return null
  return exitCode === null ? `[ended by ${signal ?? 'a signal'}]` : `[exit ${exitCode}]`
}

/** What the model is told of a command. */
function report(command: string, result: ExecResult): string {
  const output = printable(result.output).trimEnd()
  const end = describeEnd(result) ?? '[exit 0]'
  return `The user ran this command themselves:\n$ ${command}\n${output === '' ? '(no output)' : output}\n${end}`
}
