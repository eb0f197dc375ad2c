// Clients of the Model Context Protocol at the gateway.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, it } from 'vitest'
import { KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('serves MCP clients that have its key, and nobody else', async () => {
  const gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'm'], scene)
  try {
    const url = new URL('/mcp', gateway.baseUrl)
    const authorization = `Bearer ${KEY}`
    const post = (headers: Readonly<Record<string, string>>) => fetch(url, { method: 'POST', body: '{}', headers })
    expect((await post({})).status).toBe(401)
    expect((await post({ authorization, origin: 'https://evil.example' })).status).toBe(403)
    const client = new Client({ name: 'other', version: '1' })
    const requestInit = { headers: { authorization } }
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
    scene.server.enqueue({ text: 'Tea is ready.' })
    const run = await client.callTool({ name: 'run_agent', arguments: { prompt: 'Make tea.' } })
    expect(JSON.stringify(run.content)).toContain('Tea is ready.')
    const { structuredContent } = await client.callTool({ name: 'sessions_list', arguments: {} })
    expect(structuredContent).toMatchObject({ sessions: [{ source: 'mcp', preview: 'Make tea.' }] })
    await client.close()
  } finally {
    await gateway.stop()
  }
})
