// Written by `pnpm gen`. Every tool that ships with Hermes, by the name of its factory.
import {
  createClarifyTool,
  createPatchTool,
  createProcessTool,
  createReadFileTool,
  createSearchFilesTool,
  createTerminalTool,
  createTodoReadTool,
  createTodoWriteTool,
  createWriteFileTool,
} from '@hermes/tools'

export const toolFactories = [
  createClarifyTool,
  createPatchTool,
  createProcessTool,
  createReadFileTool,
  createSearchFilesTool,
  createTerminalTool,
  createTodoReadTool,
  createTodoWriteTool,
  createWriteFileTool,
] as const
