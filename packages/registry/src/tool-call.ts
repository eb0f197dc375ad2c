import type { JsonObject } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { Tool, ToolContext, ToolOutcome, ToolResult } from '@hermes/contracts/tool'
import { closest } from 'fastest-levenshtein'
import { ignoredLine } from './argument-names.js'
import { TOOL_SEARCH } from './disclosure.js'
import type { RegisteredTool } from './registered-tool.js'
import { isHermesError } from './registry-error.js'
import { asExternal, errorOutcome, overlongText, toOutcome } from './result.js'

/** A call after its tool was found and its arguments were checked; or its result already, when that failed. */
export type PreparedCall =
  | ({ readonly type: 'prepared' } & ReadyCall)
  | { readonly type: 'immediate'; readonly outcome: ToolOutcome }

/** A call that may run. */
export interface ReadyCall {
  readonly tool: Tool
  readonly args: unknown
  /** What the result says of arguments that the tool has no use for; absent for nothing. */
  readonly ignored?: string
}

/** Names of tools, as those that a session may call. */
export type ToolNames = Iterable<string> & { has(name: string): boolean }

/** Writes an overlong result where `read_file` of `environment` finds it. */
export type KeepResult = (whole: {
  readonly sessionId: string
  readonly callId: string
  readonly text: string
  readonly environment: Environment
}) => Promise<string>

/** The call with its arguments checked; or the result that says what is wrong with them. Never rejects. */
export async function checkCall(
  { tool, parameters, mayChange, isOutside }: Omit<RegisteredTool, 'isDeferred'>,
  args: JsonObject,
): Promise<PreparedCall> {
  const problem = (line: string): PreparedCall => ({ type: 'immediate', outcome: errorOutcome(line, isOutside) })
  try {
    const result = await parameters.check(args)
    if (result.type === 'valid') {
      const { args: named, unknown } = result
      // What is not ours may take more than it describes.
      if (unknown.length === 0 || mayChange) return { type: 'prepared', tool, args: named }
      return { type: 'prepared', tool, args: named, ignored: ignoredLine(tool.name, unknown, parameters.schema) }
    }
    const now = mayChange ? ` Its parameters are now: ${parametersLine(parameters.schema)}` : ''
    return problem(
      `Invalid arguments for ${tool.name}: ${result.message.replace(/\.$/, '')}. Correct them and call again.${now}`,
    )
  } catch (error) {
    return problem(`The parameters of ${tool.name} cannot be checked (${uncheckedLine(error)}). Continue without it.`)
  }
}

/** A schema that leads nowhere, or round in a circle, is the mistake of whoever wrote it. */
function uncheckedLine(error: unknown): string {
  if (error instanceof RangeError) return 'they refer to themselves without an end'
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!.trim()
}

const SHOWN_SCHEMA_CHARS = 4_000

function parametersLine(schema: JsonObject): string {
  const text = JSON.stringify(schema)
  return text.length <= SHOWN_SCHEMA_CHARS ? text : `too long to be shown here; ${TOOL_SEARCH} gives them.`
}

/** The answer to a call of a tool that is not there. */
export function unknownTool(name: string, visible: ToolNames): string {
  const names = [...visible]
  if (names.length === 0) return `There is no tool "${name}", nor any other tool. Answer in text.`
  const nearest = closest(name, names)
  if (visible.has(TOOL_SEARCH))
    return `There is no tool "${name}". Did you mean "${nearest}"? Find others with ${TOOL_SEARCH}.`
  return `There is no tool "${name}". Did you mean "${nearest}"? Available: ${names.sort().join(', ')}.`
}

/**
 * Runs a call; what a tool throws becomes an error outcome, except an abort. `isOutside` is a tool of a source that nobody vouches for, `keep`
 * writes down the whole of a result that is cut.
 */
export async function runCall(
  { tool, args, ignored }: ReadyCall,
  context: ToolContext,
  { isOutside, keep }: { readonly isOutside: boolean; readonly keep: KeepResult | null },
): Promise<ToolOutcome> {
  try {
    // As it is now: a command that ends in another folder was not started there.
    const sources = tool.external && !isOutside ? sourcesOf(tool, args, context) : undefined
    const result = await tool.execute(args, context)
    const path = keep ? await keepWhole(keep, { tool, result, context }) : null
    const own = isOutside ? ofOthers(tool, result) : tool.external ? asExternal(result, sources) : result
    return withNote(toOutcome(own, tool.maxResultChars, path), ignored)
  } catch (error) {
    if (context.signal.aborted) throw error
    const line = error instanceof Error ? error.message : String(error)
    return errorOutcome(isHermesError(error) ? line : `${tool.name} failed: ${line}`, isOutside)
  }
}

/** What is told of the result of a source that nobody vouches for is not its own to say. */
function ofOthers(tool: Tool, result: ToolResult): ToolResult {
  const server = [{ type: 'server', name: `the tool ${tool.name}` }] as const
  return asExternal(typeof result === 'string' ? result : { ...result, sources: server }, server)
}

/** Where the whole of a result went that is too long. */
async function keepWhole(
  keep: KeepResult,
  { tool, result, context }: { readonly tool: Tool; readonly result: ToolResult; readonly context: ToolContext },
): Promise<string | null> {
  const text = overlongText(result, tool.maxResultChars)
  if (text === null) return null
  try {
    const { sessionId, callId, environment } = context
    return await keep({ sessionId, callId, text, environment })
  } catch {
    // The model is told what was left out of the result, and then of no file that has it.
    return null
  }
}

/** Where a call's result comes from; not known where the tool cannot say. */
function sourcesOf(tool: Tool, args: unknown, context: ToolContext): readonly TextSource[] | undefined {
  try {
    return tool.sources?.(args, context)
  } catch {
    return undefined
  }
}

function withNote(outcome: ToolOutcome, note: string | undefined): ToolOutcome {
  return note === undefined ? outcome : { ...outcome, content: [...outcome.content, { type: 'text', text: note }] }
}
