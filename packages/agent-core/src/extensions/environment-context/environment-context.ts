import { dirname } from 'node:path/posix'
import type { Environment } from '@hermes/contracts/environment'
import type { ToolState } from '@hermes/contracts/tool'
import { startedIn } from '../../prompt/started-in.js'

/** When a command of the agent's own ran, in Unix milliseconds. */
interface CommandSpan {
  readonly startedAtMs: number
  readonly endedAtMs: number
}

const LOOK_EVERY_MS = 2_000
/** A remote host takes a round trip for each file. */
const LOOK_REMOTE_EVERY_MS = 30_000
const MAX_SPANS = 100
/** Clocks of file systems are coarse. */
const SLACK_MS = 50

/** Those of a session; made when a run begins, so that the workspace is where the session started. */
export function environmentContextOf(
  environment: Environment,
  session: { readonly state: ToolState },
): EnvironmentContext {
  return session.state.scratch(
    'surroundings',
    () => new EnvironmentContext(startedIn(environment, session), environment.backend !== 'local'),
  )
}

/** What a session knows of its surroundings, for as long as the process lives. */
export class EnvironmentContext {
  /** The workspace: hints are looked for inside it. */
  readonly root: string
  readonly isRemote: boolean
  /** Files whose change was told, with the version that was told of; `null` for one that was gone. */
  readonly notified = new Map<string, string | null>()
  readonly #entered = new Set<string>()
  #spans: CommandSpan[] = []
  #compactions = 0
  #lookedAtMs: number | null = null

  constructor(root: string, isRemote: boolean) {
    this.root = root
    this.isRemote = isRemote
  }

  /** Of these folders and those around them, inside the workspace, the ones the session never was in; the outermost come first. */
  enters(folders: readonly string[], { state }: { readonly state: ToolState }): readonly string[] {
    const compactions = state.compactions()
    // What was told before is out of the model's sight by now.
    if (compactions !== this.#compactions) this.#entered.clear()
    this.#compactions = compactions
    const entered: string[] = []
    for (const start of folders)
      for (let folder = start; this.#isInside(folder) && !this.#entered.has(folder); folder = dirname(folder)) {
        this.#entered.add(folder)
        entered.push(folder)
      }
    return entered.sort()
  }

  #isInside(folder: string): boolean {
    return folder.length > this.root.length && folder.startsWith(this.root === '/' ? '/' : `${this.root}/`)
  }

  /** Notes a command, whose changes are the agent's own. */
  ran(span: CommandSpan): void {
    this.#spans.push(span)
    if (this.#spans.length > MAX_SPANS) this.#spans.shift()
  }

  /** Whether a change at this time was made by a command of the agent. */
  isOwn(modifiedMs: number): boolean {
    return this.#spans.some(
      ({ startedAtMs, endedAtMs }) => modifiedMs >= startedAtMs - SLACK_MS && modifiedMs <= endedAtMs + SLACK_MS,
    )
  }

  /** Whether to look at files again; asked once per result, answered yes every few seconds at most, and never at first. */
  isTimeToLook(nowMs: number): boolean {
    if (this.#lookedAtMs === null) this.#lookedAtMs = nowMs
    if (nowMs - this.#lookedAtMs < (this.isRemote ? LOOK_REMOTE_EVERY_MS : LOOK_EVERY_MS)) return false
    this.#lookedAtMs = nowMs
    return true
  }
}
