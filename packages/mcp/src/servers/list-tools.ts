import { isJsonObject } from '@hermes/contracts'
import type { StandardSchema } from '@hermes/contracts/tool'
import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client'

const MOST_PAGES = 64

/** The tools of a server. Where its list is not what the protocol says, those of it that are tools. Rejects as the client does. */
export async function listTools(client: Client, options: RequestOptions): Promise<readonly Tool[]> {
  try {
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'refresh' })
    return tools
  } catch (error) {
    const { SdkErrorCode } = await import('@modelcontextprotocol/client')
    if ((error as { code?: unknown }).code !== SdkErrorCode.InvalidResult) throw error
    return listLeniently(client, options)
  }
}

const ANYTHING: StandardSchema = { '~standard': { version: 1, vendor: 'hermes', validate: (value) => ({ value }) } }

async function listLeniently(client: Client, options: RequestOptions): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result: unknown = await client.request({ method: 'tools/list', params }, ANYTHING as never, options)
    if (!isJsonObject(result) || !Array.isArray(result['tools'])) return tools
    tools.push(...(result['tools'] as unknown[]).filter(isTool))
    const next = result['nextCursor']
    if (typeof next !== 'string') return tools
    cursor = next
  }
  return tools
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
