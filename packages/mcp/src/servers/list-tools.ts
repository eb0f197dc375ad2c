import { isJsonObject } from '@hermes/contracts'
import type { StandardSchema } from '@hermes/contracts/tool'
import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import { cleanLine } from '../tools/clean-text.js'

const MOST_PAGES = 64

/** What a server lists. */
interface ListedTools {
  readonly tools: readonly Tool[]
  /** Those that are left out, each with why, for people. */
  readonly dropped: readonly string[]
}

/** The tools of a server. Where its list is not what the protocol says, those of it that are tools. Rejects as the client does. */
export async function listTools(client: Client, options: RequestOptions): Promise<ListedTools> {
  const { tools, dropped } = await listAll(client, options)
  const first = new Map<string, Tool>()
  const twice = new Set<string>()
  for (const tool of tools)
    if (first.has(tool.name)) twice.add(`${cleanLine(tool.name, 60)} (listed twice)`)
    else first.set(tool.name, tool)
  return { tools: [...first.values()], dropped: [...dropped, ...twice] }
}

async function listAll(client: Client, options: RequestOptions): Promise<ListedTools> {
  try {
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'refresh' })
    return { tools, dropped: [] }
  } catch (error) {
    const { SdkErrorCode } = await import('@modelcontextprotocol/client')
    if ((error as { code?: unknown }).code !== SdkErrorCode.InvalidResult) throw error
    return listLeniently(client, options)
  }
}

const ANYTHING: StandardSchema = { '~standard': { version: 1, vendor: 'hermes', validate: (value) => ({ value }) } }

async function listLeniently(client: Client, options: RequestOptions): Promise<ListedTools> {
  const tools: Tool[] = []
  const dropped: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result: unknown = await client.request({ method: 'tools/list', params }, ANYTHING as never, options)
    if (!isJsonObject(result) || !Array.isArray(result['tools'])) break
    for (const one of result['tools'] as unknown[])
      if (isTool(one)) tools.push(one)
      else dropped.push(nameOf(one))
    const next = result['nextCursor']
    if (typeof next !== 'string') break
    cursor = next
  }
  return { tools, dropped }
}

function nameOf(value: unknown): string {
  const name = isJsonObject(value) ? value['name'] : null
  return typeof name === 'string' ? `${cleanLine(name, 60)} (no tool as the protocol has it)` : 'one without a name'
}

function isTool(value: unknown): value is Tool {
  if (!isJsonObject(value)) return false
  const { name, description, inputSchema, outputSchema } = value
  return (
    typeof name === 'string' &&
    (description === undefined || typeof description === 'string') &&
    isJsonObject(inputSchema) &&
    inputSchema['type'] === 'object' &&
    (outputSchema === undefined || isJsonObject(outputSchema))
  )
}
