import type { Agent } from '../agent.js'
import type { Hooks } from '../extension-registry/hook-table.js'
import type { ChildTask } from './child-task.js'
import type { ChildTree } from './child-tree.js'

/** How far delegation goes. */
export interface DelegationLimits {
  /** Children at a time, and tasks of one call. Default 3. */
  readonly maxChildren: number
  /** Levels below the agent a person talks to; 1 to 3. Default 1. */
  readonly maxDepth: number
  /** Longer answers of children are cut in the middle; in characters. Default 24,000. */
  readonly maxAnswerChars: number
}

/** The limits where nobody says otherwise: three children at a time, one level, answers of 24,000 characters. */
export const DEFAULT_DELEGATION_LIMITS: DelegationLimits = { maxChildren: 3, maxDepth: 1, maxAnswerChars: 24_000 }

/** Where a child is put. */
export interface ChildContext {
  /** Root agent first; the child itself last. */
  readonly agentPath: readonly string[]
  /** Where it works. Absolute. Default: where its parent does. */
  readonly cwd?: string
}

/** An agent made for one task. */
export interface Child {
  readonly agent: Agent
  /** What of the task was left out, for the one who asked: one line. */
  readonly note?: string
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
  /** Told of children as they start and end. Default: nobody is. */
  readonly hooks?: Hooks
  /** Makes a child; `role` is what the depth allows. */
  createChild(task: ChildTask, context: ChildContext): Promise<Child>
}

/** What stays out of reach of children: what talks to people, and what outlives their task. */
export const BLOCKED_FOR_CHILDREN: readonly string[] = Object.freeze([
  'clarify',
  'cronjob',
  'delegate_task',
  'execute_code',
  'learning',
  'memory',
  'recall',
  'send_message',
  'sessions_send',
])

/** The role a child gets at `depth`: an orchestrator needs a level below it. */
export function roleAt(depth: number, role: ChildTask['role'], { maxDepth }: DelegationLimits): ChildTask['role'] {
  return role === 'orchestrator' && depth < maxDepth ? 'orchestrator' : 'leaf'
}
