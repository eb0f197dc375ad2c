export { type Agent, createAgent, type Run, type RunOptions } from './agent.js'
export type { AgentOptions } from './agent-options.js'
export type { AnswerDemands } from './answers/demands.js'
export { isCutOff } from './answers/partial-answer.js'
export { contextTokens } from './context-window/context-window.js'
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
export { startTask } from './delegation/start-task.js'
export type { Activity } from './events/activity.js'
export { type Denial, denialOf } from './events/denial.js'
export { describeNotice, type NoticeText } from './events/describe-notice.js'
export type { AgentEvent, AgentEventBody, RunResult, RunStatus } from './events/event.js'
export { mergeDeltas } from './events/event-queue.js'
export { type NewText, RepeatedText } from './events/repeated-text.js'
export {
  type Contribution,
  createExtensionRegistry,
  type ExtensionRegistry,
} from './extension-registry/extension-registry.js'
export { hooksWithout } from './extension-registry/hook-table.js'
export { cacheKeeper } from './extensions/cache-keeper/extension.js'
export { runtimeState } from './extensions/environment-context/extension.js'
export type { RuntimeStateOptions } from './extensions/environment-context/runtime-state.js'
export { isRuntimeState } from './extensions/environment-context/runtime-state.js'
export type { LoopGuardSettings } from './extensions/loop-guard/extension.js'
export { platformChange } from './extensions/platform-change/platform-change.js'
export { references } from './extensions/references/extension.js'
export type { ReferenceOptions } from './extensions/references/options.js'
export { standardExtensions } from './extensions/standard.js'
export { verifyOnStop } from './extensions/verify-on-stop/extension.js'
export type { RunInput } from './loop/run-input.js'
export { isPlanning, type PlanEnd } from './planning/planning.js'
export {
  cutHeadTail,
  type LayerName,
  MOST_PROMPT_TOKENS,
  type PromptLayer,
  type SystemPrompt,
  type SystemSource,
} from './prompt/layers.js'
export type { PlatformHint } from './prompt/platform-hint.js'
export { buildSystemPrompt, type ContextFile } from './prompt/system-prompt.js'
export { createSessionId } from './session/session.js'
export type { Undone, UndoOptions } from './session/undo.js'
export { createMemoryStore } from './stores/memory-store.js'
