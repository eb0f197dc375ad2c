// A server of the newest revision (2026-07-28) by the SDK of the protocol's authors: `node newest-server.mjs stdio|http FILE`. It serves that
// revision alone. Over HTTP it prints its port. What happens to calls that are given up stands in the file.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, fromJsonSchema, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [wire, file] = process.argv.slice(2)
let hasGrown = false
let tell = () => undefined

function create() {
  const server = new McpServer({ name: 'newest', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  const add = (name, run) => {
    const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } })
    server.registerTool(name, { description: `It is called ${name}.`, inputSchema }, run)
  }
  add('echo', async ({ text }) => ({ content: [{ type: 'text', text: `You said ${text}` }], structuredContent: { text } }))
  add('fail', async () => {
    throw new Error('The kettle is broken.')
  })
  add('ask', async (_args, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'name')
    if (answer.kind === 'elicit') return { content: [{ type: 'text', text: `${answer.action} ${answer.content?.name ?? ''}` }] }
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) } })
  })
  add('slow', (_args, { mcpReq }) => {
    appendFileSync(file, 'begun\n')
    const end = () => appendFileSync(file, 'given up\n')
    return new Promise(() => mcpReq.signal.addEventListener('abort', end, { once: true }))
  })
  add('grow', async () => {
    hasGrown = true
    tell(server)
    return { content: [] }
  })
  if (hasGrown) add('grown', async () => ({ content: [] }))
  return server
}

if (wire === 'stdio') {
  tell = (server) => server.registerTool('grown', { description: 'It came later.' }, async () => ({ content: [] }))
  serveStdio(create, { legacy: 'reject' })
} else {
  const handler = createMcpHandler(create, { legacy: 'reject' })
  tell = () => handler.notify.toolsChanged()
  const answer = async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const body = request.method === 'POST' ? Readable.toWeb(request) : null
    const about = { method: request.method, headers: request.headers, body, duplex: 'half', signal: gone.signal }
    const { status, headers, body: sent } = await handler.fetch(new Request(`http://x${request.url}`, about))
    response.writeHead(status, Object.fromEntries(headers))
    if (sent === null) return response.end()
    Readable.fromWeb(sent).on('error', () => response.destroy()).pipe(response)
  }
  const http = createServer((request, response) => void answer(request, response))
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`))
}
