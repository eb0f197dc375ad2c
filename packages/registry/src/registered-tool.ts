import type { Tool } from '@hermes/contracts/tool'
import { type ToolParameters, toolParameters } from './arguments.js'
import { TOOL_CALL, TOOL_SEARCH } from './disclosure.js'
import { RegistryError } from './registry-error.js'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const SHOWN_NAME_CHARS = 40

/** A tool that was found to be one. */
export interface RegisteredTool {
  readonly tool: Tool
  readonly parameters: ToolParameters
  /** Found by `tool_search` instead of being defined. */
  readonly isDeferred: boolean
  /** Its parameters may be others than the session was shown. */
  readonly mayChange: boolean
  /** It comes from a source that nobody vouches for: what it says of itself, and what it gives, is text from outside. */
  readonly isOutside: boolean
}

/**
 * Reads a tool once.
 * @throws RegistryError `registry.bad_name`, `registry.bad_schema`.
 */
export function toRegisteredTool(tool: Tool, about: Omit<RegisteredTool, 'tool' | 'parameters'>): RegisteredTool {
  for (const name of [tool.name, ...(tool.aliases ?? [])]) checkName(name)
  const parameters = readParameters(tool)
  if (parameters?.whole['type'] !== 'object')
    throw new RegistryError('registry.bad_schema', `The parameters of tool "${tool.name}" must be an object schema.`)
  return { tool, parameters, ...about }
}

/** @throws RegistryError `registry.bad_name` */
export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new RegistryError(
      'registry.bad_name',
      `Tool name "${shortName(name)}" must be 1 to 64 letters, digits, "_" or "-".`,
    )
  if (name === TOOL_SEARCH || name === TOOL_CALL)
    throw new RegistryError('registry.bad_name', `The name "${name}" is taken: it is how hidden tools are reached.`)
}

/** A name of any length in a line. */
export function shortName(name: unknown): string {
  const text = String(name)
  return text.length > SHOWN_NAME_CHARS ? `${text.slice(0, SHOWN_NAME_CHARS).toWellFormed()}…` : text
}

function readParameters({ parameters }: Tool): ToolParameters | null {
  return typeof parameters === 'object' && parameters !== null ? toolParameters(parameters) : null
}
