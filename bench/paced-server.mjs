// A chat-completions server that streams like a model does: CHUNKS pieces, PACE_MS apart. A process of its own, started with fork().
// It sends { type: 'listening', port }; asked with { type: 'take' } it answers { type: 'times', times }: how many milliseconds each
// request took it, by the marker `#NAME` in its last user message. Asking forgets them.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const CHUNKS = 80
const PACE_MS = 25
let times = {}

const server = createServer(async (request, response) => {
  const startedMs = performance.now()
  const parts = []
  for await (const part of request) parts.push(part)
  if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end()
  const { model, messages } = JSON.parse(Buffer.concat(parts).toString())
  const [marker] = /#[\w-]+\./.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user').content))
  const base = { id: 'chat', object: 'chat.completion.chunk', created: 1, model }
  const send = (choice, rest) =>
    response.write(`data: ${JSON.stringify({ ...base, choices: choice ? [choice] : [], ...rest })}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (let count = 0; count < CHUNKS; count++) {
    send({ index: 0, delta: { role: 'assistant', content: `piece ${count} ` }, finish_reason: null })
    await sleep(PACE_MS)
  }
  send({ index: 0, delta: {}, finish_reason: 'stop' })
  send(null, { usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } })
  response.end('data: [DONE]\n\n')
  times[marker] = performance.now() - startedMs
})

process.on('message', () => {
  process.send({ type: 'times', times })
  times = {}
})
process.on('disconnect', () => process.exit(0))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ type: 'listening', port: server.address().port }))
