export { audioType } from './conversation/audio-type.js'
export {
  accountIn,
  type CallStartEntry,
  type CompactionEntry,
  type Entry,
  gainedLittle,
  latestCompaction,
  latestPrompt,
  liveEntries,
  type MessageEntry,
  type ModelEntry,
  type NewEntry,
  type NoteEntry,
  type PromptEntry,
  type PromptLayerSize,
  project,
  type ReasoningEffort,
  type Sampling,
  type SamplingChange,
  type ServiceTier,
  type UndoEntry,
} from './conversation/entry.js'
export { imageType, MAX_IMAGE_BYTES } from './conversation/image-type.js'
export {
  type AssistantMessage,
  type AssistantPart,
  type AudioPart,
  type EndpointStamp,
  type FilePart,
  type FinishReason,
  type ImagePart,
  type Message,
  messageText,
  type Origin,
  type ReasoningPart,
  type SystemMessage,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  toolCalls,
  type UserMessage,
  type UserPart,
  userText,
} from './conversation/message.js'
export { settlePart, sourcesOf, taintsIn, taintsOfPart } from './conversation/taints.js'
export { foldersOf, type Provenance, settle, type TextSource } from './conversation/text-source.js'
export { estimateTokens } from './conversation/tokens.js'
export { latestTurnStart, turnStarts } from './conversation/turn-starts.js'
export { addUsage, noUsage, type Usage, usageSince } from './conversation/usage.js'
export { checkConversation, type RepairRules, repairConversation, type Violation } from './conversation/validity.js'
