import type { ReasoningEffort } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { UsageError } from './errors.js'

/** Flags of `hermes chat`. */
export interface ChatOptions extends QueryFlags, SessionFlags, ModelFlags, HomeFlags {}

/** What is asked, and what is shown of the answer. */
interface QueryFlags {
  readonly query?: string
  /** A query of which nothing but the answer is shown. */
  readonly z?: string
  readonly queryFile?: string
  /** A file of questions, one a line. */
  readonly batch?: string
  readonly image?: readonly string[]
  readonly plan?: boolean
  /** Names of skills, with commas between them. */
  readonly skills?: string
  readonly json?: boolean
}

/** Which session goes on. */
interface SessionFlags {
  readonly in?: string
  /** In a worktree of its own. */
  readonly worktree?: boolean
  readonly resume?: string
  readonly continue?: boolean
  readonly any?: boolean
  /** With `resume`: a new session of that title where there is none. */
  readonly createIfMissing?: boolean
  /** Its plan is carried out. */
  readonly accept?: boolean
}

/** Which model answers, with which tools, and how far it goes. */
interface ModelFlags {
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
  /** A key or login by label, id or place; `default`: none is chosen. */
  readonly account?: string
  readonly reasoning?: 'default' | ReasoningEffort
  readonly toolsets?: string
  readonly maxTurns?: number
  /** Seconds by the clock. */
  readonly runBudget?: number
  readonly record?: string
  readonly replay?: string
}

/** How the home is opened: whom it trusts, and what it may spend. */
interface HomeFlags {
  readonly yolo?: boolean
  readonly trust?: boolean
  readonly acceptHooks?: boolean
  readonly safeMode?: boolean
  readonly ignoreRules?: boolean
  readonly maxCost?: number
}

/** What is asked of the agent of a session that goes on, or of a new one. */
export function sessionOptions(options: ModelFlags & SessionFlags, session: SessionInfo | null) {
  const isNamed = session === null && options.createIfMissing && options.resume !== undefined
  return { ...agentOptions(options), ...(session ? { session } : {}), ...(isNamed ? { title: options.resume! } : {}) }
}

/** The words that have a message bring the skills of `-s` along, with what follows them. */
export function withSkills(skills: string, text = ''): string {
  const names = skillNames(skills)
  if (names.length === 0) throw new UsageError('--skills takes names of skills: hermes skills list')
  return `Use the skill${names.length === 1 ? '' : 's'} ${names.join(', ')}. ${text}`
}

/** What `-s` names. */
export function skillNames(skills: string): readonly string[] {
  return skills
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean)
}

/** What `--reasoning` says; `null` goes back to what is configured. */
export function chosenEffort(word: NonNullable<ModelFlags['reasoning']>): ReasoningEffort | null {
  return word === 'default' ? null : word
}

/** What `--account` says; `null` goes back to what the project or the home uses. */
export function chosenAccount(name: string): string | null {
  if (name.trim() === '')
    throw new UsageError('--account takes the name of a key or login; hermes auth list shows them.')
  return name === 'default' ? null : name
}

/** How the home is opened, as flags decide. */
export function openOptions({ trust, acceptHooks, safeMode, ignoreRules, maxCost }: HomeFlags) {
  if (maxCost !== undefined && !(maxCost > 0)) throw new UsageError('--max-cost takes US dollars, more than 0.')
  return {
    ...(trust === undefined ? {} : { trust }),
    ...(acceptHooks === undefined ? {} : { acceptHooks }),
    ...(safeMode === undefined ? {} : { safe: safeMode }),
    ...(ignoreRules === undefined ? {} : { ignoreRules }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
  }
}

/** The options of an agent that flags decide. */
export function agentOptions(options: ModelFlags) {
  if (options.maxTurns !== undefined && (!Number.isInteger(options.maxTurns) || options.maxTurns < 1)) {
    throw new UsageError('--max-turns takes a whole number of at least 1.')
  }
  if (options.runBudget !== undefined && !(options.runBudget > 0 && Number.isFinite(options.runBudget))) {
    throw new UsageError('--run-budget takes seconds, more than 0.')
  }
  return {
    ...(options.runBudget === undefined ? {} : { maxSeconds: options.runBudget }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    ...(options.maxTurns === undefined ? {} : { maxSteps: options.maxTurns }),
    ...(options.toolsets === undefined
      ? {}
      : {
          toolsets: options.toolsets
            .split(',')
            .map((name) => name.trim())
            .filter(Boolean),
        }),
    ...(options.record === undefined ? {} : { record: options.record }),
    ...(options.replay === undefined ? {} : { replay: options.replay }),
  }
}
