export type { Activity } from './activity.js'
export { type Agent, createAgent, type Run } from './agent.js'
export type { AgentOptions } from './agent-options.js'
export type { ChildInfo } from './delegation/child-node.js'
export { childInstructions } from './delegation/child-prompt.js'
export type { ChildResult, ChildTask } from './delegation/child-task.js'
export { type Children, ChildTree } from './delegation/child-tree.js'
export {
  BLOCKED_FOR_CHILDREN,
  type Child,
  type ChildContext,
  DEFAULT_DELEGATION_LIMITS,
  type Delegation,
  type DelegationLimits,
} from './delegation/delegation.js'
export { type Denial, denialOf } from './denial.js'
export { describeRetry } from './describe-retry.js'
export type { RuntimeStateOptions } from './environment-context/options.js'
export { isRuntimeState } from './environment-context/runtime-state.js'
export type { AgentEvent, AgentEventBody, EventBase, RunResult, RunStatus } from './event.js'
export { environmentContext, runtimeState } from './extensions/environment-context.js'
export { memoryRecall } from './extensions/memory-recall.js'
export { references } from './extensions/references.js'
export { standardExtensions } from './extensions/standard.js'
export type { LoopGuardOptions } from './loop-guard.js'
export type { AgentMemory } from './memory/agent-memory.js'
export { createMemoryStore } from './memory-store.js'
export type { Pausable } from './pause.js'
export { isPlanning, type PlanEnd } from './plan-mode.js'
export {
  cutHeadTail,
  type LayerName,
  MOST_PROMPT_TOKENS,
  type PromptLayer,
  type SystemPrompt,
  type SystemSource,
} from './prompt/layers.js'
export { buildSystemPrompt, type ContextFile, type SystemPromptOptions } from './prompt/system-prompt.js'
export type { ReferenceOptions } from './references/options.js'
export { type NewText, RepeatedText } from './repeated-text.js'
export type { RunInput } from './run-input.js'
export { createSessionId } from './session-id.js'
export type { Undone } from './undo.js'
