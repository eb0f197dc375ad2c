import type { JsonObject } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'

/** A task for a fresh agent. */
export interface ChildTask {
  readonly goal: string
  /** What the child has to know; it sees nothing of the conversation. Empty for nothing. */
  readonly context: string
  /** Toolsets it may use, never more than the one who asks. Default: the same ones. */
  readonly toolsets?: readonly string[]
  /** Work in a git worktree of its own, whose changes come back as a branch with a report. Default `false`. */
  readonly worktree?: boolean
  /** An orchestrator may delegate in its turn, as far as the depth allows. */
  readonly role: 'leaf' | 'orchestrator'
}

/** What became of one task. There is one for each, in the order of the tasks. */
export interface ChildResult {
  readonly status: 'completed' | 'stopped' | 'interrupted' | 'failed'
  /** Its last words. */
  readonly answer: string
  /** The answer as data, where a schema was given and it fits. */
  readonly output?: JsonObject
  /** What became of its worktree, where it had one. */
  readonly changes?: string
  /** Why it is not `completed`, what is wrong with the answer, or what of the task was left out: one line. */
  readonly problem?: string
  readonly sessionId: string | null
  readonly toolCalls: number
  readonly durationMs: number
  /** Of its own and of what it delegated. */
  readonly usage: Usage
  /** What from outside went into it that taints, by names for a person. */
  readonly taintedBy: readonly string[]
}
