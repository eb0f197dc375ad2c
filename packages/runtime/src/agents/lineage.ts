import {
  BLOCKED_FOR_CHILDREN,
  type Child,
  type ChildTask,
  type ChildTree,
  type DelegationLimits,
  type LoopGuardSettings,
} from '@hermes/agent-core'
import type { HermesConfig } from '@hermes/config'
import { resolveToolsets, type Toolset } from '@hermes/registry'

/** Where an agent stands in the tree of delegation. */
export interface Lineage {
  /** 0 for the agent a person talks to. */
  readonly depth: number
  /** The session whose listeners answer for the whole tree; `null` for that agent itself. */
  readonly rootSessionId: string | null
  readonly parentSessionId: string | null
  readonly agentPath: readonly string[]
  readonly role: ChildTask['role']
  /** The only tools it may have; `null` for all. */
  readonly tools: readonly string[] | null
  /** Where what it delegates is listed; `null` for an agent that has a tree of its own. */
  readonly tree: ChildTree | null
}

/** The agent a person talks to. */
export const ROOT: Lineage = Object.freeze({
  depth: 0,
  rootSessionId: null,
  parentSessionId: null,
  agentPath: Object.freeze(['root']),
  role: 'orchestrator',
  tools: null,
  tree: null,
})

/** The place of a child. Its tools are never more than `parentTools`, less what is blocked for children. */
export function childLineage(
  parent: Lineage,
  child: {
    readonly task: ChildTask
    readonly agentPath: readonly string[]
    readonly tree: ChildTree
    readonly parentSessionId: string
    readonly parentTools: readonly string[]
    readonly toolsets: Readonly<Record<string, Toolset>>
  },
): Lineage {
  const { task, agentPath, tree, parentSessionId, parentTools, toolsets } = child
  const named = task.toolsets?.filter((name) => isToolset(toolsets, name)) ?? []
  const wanted = named.length > 0 ? resolveToolsets(toolsets, { enabled: named }) : parentTools
  const allowed = parentTools.filter((name) => wanted.includes(name) && !BLOCKED_FOR_CHILDREN.includes(name))
  return {
    depth: parent.depth + 1,
    rootSessionId: parent.rootSessionId ?? parentSessionId,
    parentSessionId,
    agentPath,
    role: task.role,
    tools: task.role === 'orchestrator' ? [...allowed, 'delegate_task'] : allowed,
    tree,
  }
}

/** Whether there is a toolset of that name; `all` is one, and a server of tools may be named without `mcp-`. */
export function isToolset(toolsets: Readonly<Record<string, Toolset>>, name: string): boolean {
  return name === 'all' || Object.hasOwn(toolsets, name) || Object.hasOwn(toolsets, `mcp-${name}`)
}

/** The line for toolsets of a task that do not exist. */
export function shortenedNames(names: readonly string[]): string {
  const named = names.map((name) => JSON.stringify(name)).join(', ')
  return `There is no toolset ${named}; the task went on without.`
}

/** Whether an agent of this place may delegate. */
export function mayDelegate({ depth, role }: Lineage, limits: DelegationLimits): boolean {
  return role === 'orchestrator' && depth < limits.maxDepth
}

/** The limits that config.yaml sets. */
export function delegationLimits({ delegation }: HermesConfig): DelegationLimits {
  return {
    maxChildren: delegation.max_concurrent_children,
    maxDepth: delegation.orchestrator_enabled ? delegation.max_spawn_depth : 1,
    maxAnswerChars: delegation.max_summary_chars,
  }
}

/** On whose behalf an agent of this place acts: whoever answers for the session at the root answers for the child. */
export function subjectOf({ agentPath, rootSessionId }: Lineage) {
  return { agentPath, ...(rootSessionId === null ? {} : { rootSessionId }) }
}

/** What the store notes about a session of this place. */
export function originOf({ parentSessionId }: Lineage, platform: string) {
  return parentSessionId === null ? { source: platform } : { source: 'subagent', parentSessionId }
}

const WATCHED: readonly string[] = ['cli', 'acp']

/** What is done about calls that go in circles: nobody watches a child, nor a run that answers a program. */
export function loopGuardOf({ tool_loop_guardrails: settings }: HermesConfig): LoopGuardSettings {
  return {
    warnings: settings.warnings_enabled,
    hardStops: ({ agentPath, platform }) =>
      agentPath.length === 1 && WATCHED.includes(platform)
        ? settings.hard_stop_enabled
        : settings.non_interactive_hard_stop_enabled,
    warnAfter: limitsOf(settings.warn_after),
    stopAfter: limitsOf(settings.hard_stop_after),
    caps: { subagents: settings.loop_caps.max_subagents, webSearches: settings.loop_caps.max_web_searches },
  }
}

function limitsOf(
  settings: HermesConfig['tool_loop_guardrails']['warn_after'],
): NonNullable<LoopGuardSettings['warnAfter']> {
  const { exact_failure: sameFailures, same_tool_failure: toolFailures, idempotent_no_progress: sameResults } = settings
  return { sameFailures, toolFailures, sameResults }
}

/** In place of a maker of children where tools are listed and none is ever called. */
export function noChild(): Promise<Child> {
  return Promise.reject(new Error('This list of tools is not for running them.'))
}
