// A server of the newest revision (2026-07-28) by the SDK of the protocol's authors: `node newest-server.mjs stdio|http FILE [slow]`. It serves
// that revision alone. Over HTTP it prints its port. What happens to calls that are given up stands in the file. A slow one says so, and its
// first start lasts until it is asked in the older protocol.
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, fromJsonSchema, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [wire, file, pace] = process.argv.slice(2)
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

/** Reads ahead until somebody initializes, and gives back what was read. */
function untilInitialized() {
  return new Promise((resolve) => {
    let text = ''
    const read = (chunk) => {
      text += chunk
      process.stderr.write('It is starting.\n')
      if (!text.includes('"initialize"')) return
      process.stdin.off('data', read).pause().unshift(Buffer.from(text))
      resolve()
    }
    process.stdin.on('data', read)
  })
}

if (wire === 'stdio') {
  if (pace === 'slow' && readFileSync(file, 'utf8') === '') {
    await untilInitialized()
    appendFileSync(file, 'started\n')
  }
  tell = (server) => server.registerTool('grown', { description: 'It came later.' }, async () => ({ content: [] }))
  serveStdio(create, { legacy: 'reject' })
  process.stdin.resume()
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
