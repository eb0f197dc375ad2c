// A server by the SDK that most servers still run, 1.x: `node older-server.mjs stdio|http|sse FILE`. Over HTTP and SSE it prints its port. What
// happens to calls that are given up stands in the file.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const [wire, file] = process.argv.slice(2)
const text = (words) => ({ content: [{ type: 'text', text: words }] })
/** Resolves once what a server says by itself reaches its client. */
const { promise: listening, resolve: listens } = Promise.withResolvers()

function create() {
  const server = new McpServer({ name: 'older', version: '1' })
  const shape = { text: z.string() }
  server.registerTool('echo', { description: 'Says it again.', inputSchema: shape, outputSchema: shape }, (args) => ({
    ...text(`You said ${args.text}`),
    structuredContent: { text: args.text },
  }))
  server.registerTool('fail', { description: 'Fails.' }, () => {
    throw new Error('The kettle is broken.')
  })
  server.registerTool('ask', { description: 'Asks who one is.' }, async () => {
    await listening
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const { action, content } = await server.server.elicitInput({ message: 'Who are you?', requestedSchema })
    return text(`${action} ${content?.name ?? ''}`)
  })
  server.registerTool('slow', { description: 'Takes for ever.' }, async ({ _meta, signal, sendNotification }) => {
    const { progressToken } = _meta
    signal.addEventListener('abort', () => appendFileSync(file, 'given up\n'), { once: true })
    const params = { progressToken, progress: 1, total: 3, message: 'Heating' }
    await sendNotification({ method: 'notifications/progress', params })
    return new Promise(() => undefined)
  })
  server.registerTool('grow', { description: 'Has more then.' }, async () => {
    await listening
    server.registerTool('grown', { description: 'It came later.' }, () => text('grown'))
    server.registerPrompt('late', { description: 'It came later.' }, () => ({ messages: [] }))
    return text('Wait.')
  })
  server.registerTool('restart', { description: 'Forgets who is connected.', inputSchema: { status: z.number() } }, (args) => {
    status = args.status
    transports.clear()
    return text('Who are you?')
  })
  server.registerResource('leaf', 'tea://leaf', { description: 'A leaf.' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'It is green.' }],
  }))
  server.registerPrompt('brew', { description: 'Makes tea.', argsSchema: { kind: z.string() } }, ({ kind }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Brew ${kind} tea.` } }],
  }))
  return server
}

const transports = new Map()
let status = 404

async function answer(request, response) {
  const { method, headers, url } = request
  const id = headers['mcp-session-id'] ?? new URL(url, 'http://x').searchParams.get('sessionId')
  if (wire === 'http') {
    const known = transports.get(id)
    if (method === 'GET') listens()
    if (known) return known.handleRequest(request, response)
    // Once it restarted it knows nobody any more, and says so as the SDK's examples do.
    if (id) return response.writeHead(status).end('Bad Request: No valid session ID provided')
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (made) => void transports.set(made, transport),
    })
    await create().connect(transport)
    return transport.handleRequest(request, response)
  }
  if (url.startsWith('/messages')) return transports.get(id)?.handlePostMessage(request, response)
  if (method !== 'GET') return response.writeHead(405).end()
  const transport = new SSEServerTransport('/messages', response)
  transports.set(transport.sessionId, transport)
  listens()
  return create().connect(transport)
}

if (wire === 'stdio') {
  listens()
  await create().connect(new StdioServerTransport())
} else {
  const http = createServer((request, response) => void answer(request, response))
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`))
}
