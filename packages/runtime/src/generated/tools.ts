// Written by `pnpm gen`. Every tool that ships with Hermes, by the name of its factory.
import type { Tool } from '@hermes/contracts/tool'
import {
  createDelegateTaskTool,
  type AgentCoreToolServices,
} from '@hermes/agent-core/tools'
import {
  createCheckpointTool,
  createRestoreTool,
  type CheckpointsToolServices,
} from '@hermes/checkpoints/tools'
import {
  createMemoryTool,
  createRecallTool,
  type MemoryToolServices,
} from '@hermes/memory/tools'
import {
  createMixtureOfAgentsTool,
  type ModelsToolServices,
} from '@hermes/models/tools'
import {
  createSendMessageTool,
  createSessionsSendTool,
  type PlatformToolServices,
} from '@hermes/platform/tools'
import {
  createExecuteCodeTool,
  type SandboxToolServices,
} from '@hermes/sandbox/tools'
import {
  createLearningTool,
  createSessionSearchTool,
  type StorageToolServices,
} from '@hermes/storage/tools'
import {
  createClarifyTool,
  createPatchTool,
  createProcessTool,
  createReadFileTool,
  createSearchFilesTool,
  createTerminalTool,
  createTodoWriteTool,
  createVisionAnalyzeTool,
  createWriteFileTool,
  type ToolSettings,
} from '@hermes/tools'
import {
  createWebExtractTool,
  createWebSearchTool,
  createXSearchTool,
  type WebToolServices,
} from '@hermes/web/tools'

/** What the tools need of a home. */
type ToolServices = ToolSettings & AgentCoreToolServices & CheckpointsToolServices & MemoryToolServices & ModelsToolServices & PlatformToolServices & SandboxToolServices & StorageToolServices & WebToolServices

/** Makes one tool for a home. */
export type ToolFactory = (services: ToolServices) => Tool

export const toolFactories: readonly ToolFactory[] = [
  createCheckpointTool,
  createClarifyTool,
  createDelegateTaskTool,
  createExecuteCodeTool,
  createLearningTool,
  createMemoryTool,
  createMixtureOfAgentsTool,
  createPatchTool,
  createProcessTool,
  createReadFileTool,
  createRecallTool,
  createRestoreTool,
  createSearchFilesTool,
  createSendMessageTool,
  createSessionSearchTool,
  createSessionsSendTool,
  createTerminalTool,
  createTodoWriteTool,
  createVisionAnalyzeTool,
  createWebExtractTool,
  createWebSearchTool,
  createWriteFileTool,
  createXSearchTool,
]
