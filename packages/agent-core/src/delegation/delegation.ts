import type { JsonObject } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import type { Agent } from '../agent.js'
import type { ChildTree } from './child-tree.js'

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

/** How far delegation goes. */
export interface DelegationLimits {
  /** Children at a time, and tasks of one call. Default 3. */
  readonly maxChildren: number
  /** Levels below the agent a person talks to; 1 to 3. Default 1. */
  readonly maxDepth: number
  /** Longer answers of children are cut in the middle; in characters. Default 24,000. */
  readonly maxAnswerChars: number
}

export const DEFAULT_DELEGATION_LIMITS: DelegationLimits = { maxChildren: 3, maxDepth: 1, maxAnswerChars: 24_000 }

/** Where a child is put. */
export interface ChildPlace {
  /** Root agent first; the child itself last. */
  readonly agentPath: readonly string[]
  /** Where it works. Absolute. Default: where its parent does. */
  readonly cwd?: string
}

/** An agent made for one task. */
export interface Child {
  readonly agent: Agent
  /** Ends its background processes and frees what it holds. */
  close(): Promise<void>
}

/** How one agent hands tasks to children. */
export interface Delegation {
  readonly limits: DelegationLimits
  /** Of the agent that hands out: 0 for the one a person talks to. */
  readonly depth: number
  /** Of the agent that hands out. Default `['root']`. */
  readonly agentPath?: readonly string[]
  /** Where tasks are listed and can be ended, paused and told something. Default: one of each tool's own that nobody sees. */
  readonly tree?: ChildTree
  /** Makes a child; `role` is what the depth allows. */
  createChild(task: ChildTask, place: ChildPlace): Promise<Child>
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
  /** Why it is not `completed`, or what is wrong with the answer: one line. */
  readonly problem?: string
  readonly sessionId: string | null
  readonly toolCalls: number
  readonly durationMs: number
  /** Of its own and of what it handed on. */
  readonly usage: Usage
  /** Whether text from outside went into it. */
  readonly isTainted: boolean
}

/** What stays out of reach of children: what talks to people, and what outlives their task. */
export const BLOCKED_FOR_CHILDREN: readonly string[] = Object.freeze([
  'clarify',
  'cronjob',
  'delegate_task',
  'execute_code',
  'memory',
  'send_message',
])

/** The role a child gets at `depth`: an orchestrator needs a level below it. */
export function roleAt(depth: number, role: ChildTask['role'], { maxDepth }: DelegationLimits): ChildTask['role'] {
  return role === 'orchestrator' && depth < maxDepth ? 'orchestrator' : 'leaf'
}
