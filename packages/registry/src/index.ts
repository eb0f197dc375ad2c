export type { ToolOutcome } from '@hermes/contracts/tool'
export { schemaProblem, toolParameters } from './arguments.js'
export { type DisclosureOptions, TOOL_CALL, TOOL_SEARCH } from './disclosure.js'
export { errorOutcome } from './result.js'
export type { KeepResult, PreparedCall, ToolNames } from './tool-call.js'
export {
  createToolRegistry,
  type ToolRegistry,
} from './tool-registry.js'
export {
  CORE_TOOLSETS,
  type CustomToolsets,
  isBuiltIn,
  platformToolset,
  resolveToolsets,
  TOOLSETS,
  type Toolset,
  type ToolsetSelection,
} from './toolsets.js'
