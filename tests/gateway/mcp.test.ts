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
    const refused = await fetch(url, { method: 'POST', body: '{}', headers: { origin: 'https://evil.example' } })
    expect(refused.status).toBe(401)
    const client = new Client({ name: 'other', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${KEY}` } }
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
