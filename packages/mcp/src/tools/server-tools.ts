import type { JsonObject } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import type { Tool, ToolContext, ToolResult } from '@hermes/contracts/tool'
import type { Tool as ListedTool } from '@modelcontextprotocol/client'
import { toolHash } from '../servers/listing.js'
import type { McpServer } from '../servers/server.js'
import type { ToolFilter } from '../settings/server-settings.js'
import { type Calls, guarded } from './calls.js'
import { cleanLine, cleanText } from './clean-text.js'
import { toolNames, toolsetName } from './names.js'
import { resourceTools } from './resource-tools.js'
import { toToolResult } from './tool-result.js'

const MOST_DESCRIPTION_CHARS = 4_000
/** However often it tells of progress. */
const LONGEST_CALL_MS = 3_600_000

/** The tools of a server as they are listed now, without those the person left out. */
export function toolsOf(server: McpServer, calls: Calls): readonly Tool[] {
  const { listing, settings } = server
  if (!listing) return []
  const listed = listing.tools.filter(({ name }) => isWanted(name, settings.tools))
  const names = toolNames(
    settings.name,
    listed.map(({ name }) => name),
  )
  const tools = listed.map((tool) => toTool(names.get(tool.name)!, tool, { server, calls }))
  const resources = listing.hasResources && settings.tools.resources ? resourceTools(server, calls) : []
  return [...tools, ...resources.filter(({ name }) => !tools.some((tool) => tool.name === name))]
}

/** Whether a tool is there, by its own name. */
export function isWanted(name: string, { include, exclude }: ToolFilter): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => toPattern(pattern).test(name))
  return include.length > 0 ? isIn(include) : !isIn(exclude)
}

function toPattern(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}

function toTool(
  name: string,
  listed: ListedTool,
  { server, calls }: { readonly server: McpServer; readonly calls: Calls },
): Tool {
  const { settings } = server
  const { annotations = {}, description = '', title } = listed
  const onlyReads = annotations.readOnlyHint === true
  const target = `mcp:${settings.name}/${cleanLine(listed.name, 100)}`
  let hash: string | null = null
  // The same for as long as this listing counts; what was accepted may change meanwhile.
  const action = () => actionOf(server, listed, { target, onlyReads, hash: (hash ??= toolHash(listed)) })
  const words = cleanText(description.trim() || title || listed.name, MOST_DESCRIPTION_CHARS)
  return {
    name,
    toolset: toolsetName(settings.name),
    description: words,
    parameters: listed.inputSchema as unknown as JsonObject,
    effect: onlyReads ? 'read' : 'write',
    concurrency: settings.isParallel || onlyReads ? 'parallel' : 'exclusive',
    external: true,
    sources: () => [{ type: 'server', name: `the MCP server ${settings.name}` }],
    actions: () => [action()],
    execute: async (args, context) => {
      const sent = action()
      const permit = await context.permit(sent)
      permit.consume(sent)
      return calls.during(settings.name, context, () => call(server, listed, { args: args as JsonObject, context }))
    },
    summarize: () => `${settings.name}: ${cleanLine(title ?? listed.name, 80)}`,
  }
}

/** A tool with other words than were accepted is another one to rules and grants. */
function actionOf(
  server: McpServer,
  listed: ListedTool,
  { target, onlyReads, hash }: { readonly target: string; readonly onlyReads: boolean; readonly hash: string },
): Action {
  const { trust } = server.settings
  const accepted = server.listing?.accepted[listed.name] ?? hash
  const isOther = accepted !== hash
  const chosen = isOther || (trust === 'untrusted' && !onlyReads) ? 'asks' : onlyReads ? 'looks' : 'acts'
  return { type: 'send', target: isOther ? `${target}#${hash}` : target, chosen }
}

async function call(
  server: McpServer,
  listed: ListedTool,
  { args, context }: { readonly args: JsonObject; readonly context: ToolContext },
): Promise<ToolResult> {
  const { timeoutMs } = server.settings
  const request = { name: listed.name, arguments: args as Record<string, unknown> }
  const result = await guarded(server.settings, listed.name, context.signal, () =>
    server.use(
      (client) =>
        client.callTool(request, {
          signal: context.signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: Math.max(LONGEST_CALL_MS, timeoutMs),
          toolDefinition: listed,
          onprogress: ({ progress, total, message }) => {
            const figures = total === undefined ? `${progress}` : `${progress} of ${total}`
            context.progress(cleanLine(message === undefined ? figures : `${message} (${figures})`, 200))
          },
        }),
      context.signal,
    ),
  )
  return toToolResult(result)
}
