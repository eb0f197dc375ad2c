import type { JsonObject } from '@hermes/contracts'
import type { Tool, ToolContext, ToolResult } from '@hermes/contracts/tool'
import type { McpServer } from '../servers/server.js'
import { type Calls, guarded } from './calls.js'
import { cleanLine } from './clean-text.js'
import { toolName, toolsetName } from './names.js'
import { resourcePart } from './tool-result.js'

const MOST_LISTED = 200

/** Lists and reads what a server has besides tools. */
export function resourceTools(server: McpServer, calls: Calls): readonly Tool[] {
  const { name } = server.settings
  const common = (what: string) => ({
    name: toolName(name, what),
    toolset: toolsetName(name),
    effect: 'read' as const,
    concurrency: 'parallel' as const,
    external: true,
    sources: () => [{ type: 'server', name: `the MCP server ${name}` } as const],
    actions: () => [{ type: 'send', target: `mcp:${name}/${what}`, chosen: 'looks' } as const],
  })
  const run = async (what: string, context: ToolContext, work: () => Promise<ToolResult>) => {
    const action = { type: 'send', target: `mcp:${name}/${what}`, chosen: 'looks' } as const
    const permit = await context.permit(action)
    permit.consume(action)
    return calls.during(name, context, () => guarded(server.settings, what, context.signal, work))
  }
  const [LIST, READ] = ['list_resources', 'read_resource']
  return [
    {
      ...common(LIST),
      description: `Lists the resources of the MCP server ${name}: their addresses and what they are.`,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      execute: (_args, context) => run(LIST, context, () => list(server, context)),
    },
    {
      ...common(READ),
      description: `Reads one resource of the MCP server ${name} by its address.`,
      parameters: {
        type: 'object',
        properties: { uri: { type: 'string', description: `as ${toolName(name, LIST)} gives it` } },
        required: ['uri'],
        additionalProperties: false,
      },
      execute: (args, context) => run(READ, context, () => read(server, String((args as JsonObject)['uri']), context)),
    },
  ]
}

async function list(server: McpServer, { signal }: ToolContext): Promise<ToolResult> {
  const options = { signal, timeout: server.settings.timeoutMs }
  const [{ resources }, { resourceTemplates }] = await server.use(
    (client) =>
      Promise.all([
        client.listResources(undefined, options),
        client.listResourceTemplates(undefined, options).catch(() => ({ resourceTemplates: [] })),
      ]),
    signal,
  )
  const all = [
    ...resources.map(({ uri, name, description }) => ({ uri, name, description })),
    ...resourceTemplates.map(({ uriTemplate, name, description }) => ({ uri: uriTemplate, name, description })),
  ]
  const shown = all.slice(0, MOST_LISTED)
  const lines = shown.map(({ uri, name, description = '' }) =>
    cleanLine(`${uri}  ${name}${description === '' ? '' : `: ${description}`}`, 300),
  )
  const more = all.length - shown.length
  if (more > 0) lines.push(`… and ${more} more`)
  return { text: lines.length > 0 ? lines.join('\n') : 'It has no resources.', external: true }
}

async function read(server: McpServer, uri: string, { signal }: ToolContext): Promise<ToolResult> {
  const { contents } = await server.use(
    (client) => client.readResource({ uri }, { signal, timeout: server.settings.timeoutMs }),
    signal,
  )
  const parts = contents.map(resourcePart)
  return parts.length > 0 ? { parts, external: true } : { text: 'It is empty.', external: true }
}
