import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { Answer, Notice, Question, Tool, ToolContext, ToolNotice } from '@hermes/contracts/tool'
import { createToolRegistry, type ToolOutcome } from '@hermes/registry'
import { createLocalEnvironment, type LocalEnvironmentOptions } from '@hermes/sandbox'
import { onTestFinished } from 'vitest'

/** A context for tests, and what happened in it. */
export interface TestContext extends ToolContext {
  readonly permitted: readonly Action[]
  readonly shown: readonly string[]
  readonly questions: readonly Question[]
  /** Takes the notices that came, as an agent does when it carries them. */
  notices(): readonly string[]
  /** All that were taken so far. */
  readonly taken: readonly ToolNotice[]
}

export interface TestContextOptions {
  readonly environment: Environment
  readonly signal?: AbortSignal
  /** Denies what it returns true for. */
  readonly deny?: (action: Action) => boolean
  readonly answer?: Answer
  /** Which agent it is. Default: the only one. */
  readonly agent?: { readonly sessionId: string; readonly agentPath: readonly string[] }
  /** Nobody would read notices. */
  readonly unreachable?: true
  /** The data of earlier results by tool name. */
  /** How often the conversation was compacted so far. */
  readonly compactions?: () => number
  readonly latest?: Readonly<Record<string, { readonly data: JsonValue; readonly callsSince: number }>>
}

/** A context whose permits are real enough: single use and bound to their action. */
export function createToolContext(options: TestContextOptions): TestContext {
  const permitted: Action[] = []
  const shown: string[] = []
  const questions: Question[] = []
  const waiting: (Notice | (() => Notice | null))[] = []
  const taken: ToolNotice[] = []
  const scratch = new Map<string, unknown>()
  return {
    permitted,
    shown,
    questions,
    taken,
    notices() {
      const text = waiting.splice(0).flatMap((notice) => (typeof notice === 'function' ? notice() : notice) ?? [])
      const notices = text.map((notice) => (typeof notice === 'string' ? { text: notice } : notice))
      taken.push(...notices)
      return notices.map(({ text }) => text)
    },
    ...(options.unreachable ? {} : { notify: (notice) => void waiting.push(notice) }),
    signal: options.signal ?? new AbortController().signal,
    sessionId: 'session',
    agentPath: ['root'],
    ...options.agent,
    callId: 'call',
    environment: options.environment,
    async permit(action) {
      if (options.deny?.(action)) throw new HermesError('Not allowed here.', { code: 'policy.denied' })
      permitted.push(action)
      return permitFor(action)
    },
    progress: (text) => void shown.push(text),
    async ask(question) {
      questions.push(question)
      return options.answer ?? { type: 'unanswered', reason: 'nobody is there' }
    },
    state: {
      compactions: options.compactions ?? (() => 0),
      latest: (name) => options.latest?.[name] ?? null,
      scratch<T>(key: string, create: () => T): T {
        if (!scratch.has(key)) scratch.set(key, create())
        return scratch.get(key) as T
      },
    },
  }
}

function permitFor(action: Action): Permit {
  let used = false
  return {
    action,
    consume(actual: Action) {
      if (used) throw new HermesError('Used twice.', { code: 'policy.permit_used' })
      used = true
      if (JSON.stringify(sorted(actual)) === JSON.stringify(sorted(action))) return
      const text = `Permitted ${JSON.stringify(action)}, done ${JSON.stringify(actual)}.`
      throw new HermesError(text, { code: 'policy.permit_mismatch' })
    },
  } as Permit
}

const sorted = (action: Action) => Object.entries(action).sort(([a], [b]) => (a < b ? -1 : 1))

/** A folder that is gone when the test ends. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-tools-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** This machine, starting in a folder of its own; closed when the test ends. */
export async function temporaryEnvironment(
  options: Partial<LocalEnvironmentOptions> = {},
): Promise<{ readonly folder: string; readonly environment: Environment }> {
  const [folder, outputDir] = [await temporaryFolder(), await temporaryFolder()]
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8' }
  const environment = createLocalEnvironment({ cwd: folder, env, home: folder, outputDir, ...options })
  onTestFinished(() => environment.close())
  return { folder, environment }
}

/** Calls a tool through a registry, as an agent does. */
export async function call(tool: Tool, args: JsonObject, context: ToolContext): Promise<CallResult> {
  const outcome = await createToolRegistry({ tools: [tool] }).dispatch(tool.name, args, context)
  const text = outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { ...outcome, text, data: outcome.data as Record<string, JsonValue> }
}

interface CallResult extends Omit<ToolOutcome, 'data'> {
  readonly text: string
  readonly data: Record<string, JsonValue>
}
