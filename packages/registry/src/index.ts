export { RegistryError } from './registry-error.js'
export { errorOutcome, type ToolOutcome, toOutcome } from './result.js'
export { createToolRegistry, type PreparedCall, type ToolRegistry, type ToolRegistryOptions } from './tool-registry.js'
export { mergeToolsets, resolveToolsets, TOOLSETS, type Toolset, type ToolsetSelection } from './toolsets.js'
