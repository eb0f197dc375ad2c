// A chat-completions server with no latency of its own, as a process of its own: it asks for `turns` tool calls after each user
// message, then answers with a text. Started with fork(); configured and read over IPC:
//   parent sends { type: 'script', turns, tool?, args?, calls?, text?, branches? }   answered by { type: 'ready' }; forgets what was recorded
//   parent sends { type: 'take' }                                 answered by { type: 'requests', requests: [{ atMs, body, answer }] }
// `branches` are [{ has, turns, calls?, text? }] for those whose last user message holds `has`, such as an agent that was handed a task.
// `calls` are [{ tool, args }], one for each turn. Without `tool` it calls the first one the request defines; without `args` it fills what that tool's schema requires.
import { createServer } from 'node:http'
import { networkInterfaces } from 'node:os'

let script = { turns: 0 }
let requests = []

const server = createServer(async (request, response) => {
  const atMs = performance.timeOrigin + performance.now()
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  // Which server this is, and what window it has, is asked as well.
  if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end()
  const text = Buffer.concat(chunks).toString()
  const recorded = { atMs, body: text, answer: '' }
  requests.push(recorded)
  recorded.answer = JSON.stringify(answer(response, JSON.parse(text)))
})

function answer(response, body) {
  const requested = body.messages.findLastIndex((message) => message.role === 'user')
  const answered = body.messages.slice(requested).filter((message) => message.role === 'tool').length
  const question = JSON.stringify(body.messages[requested]?.content ?? '')
  const { turns, calls, text, ...one } = { ...script, ...script.branches?.find(({ has }) => question.includes(has)) }
  const base = { id: `chat-${requests.length}`, object: 'chat.completion.chunk', created: 1, model: body.model }
  const send = (choice, rest) =>
    response.write(`data: ${JSON.stringify({ ...base, choices: choice ? [choice] : [], ...rest })}\n\n`)
  const isCall = answered < turns && body.tools?.length > 0
  const delta = isCall
    ? { tool_calls: [toolCall(body.tools, calls?.[answered] ?? one)] }
    : { content: text ?? 'All read.' }

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  send({ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null })
  send({ index: 0, delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' })
  send(null, { usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 } })
  response.end('data: [DONE]\n\n')
  return delta
}

function toolCall(tools, wanted) {
  const tool = tools.find((item) => item.function.name === wanted.tool) ?? tools[0]
  const args = wanted.args ?? required(tool.function.parameters)
  return {
    index: 0,
    id: `call_${requests.length}`,
    type: 'function',
    function: { name: tool.function.name, arguments: JSON.stringify(args) },
  }
}

/** The smallest object a schema of plain properties accepts. */
function required(schema) {
  const samples = { string: 'sample', number: 1, integer: 1, boolean: true, array: [], object: {} }
  const names = schema?.required ?? []
  return Object.fromEntries(
    names.map((name) => [name, schema.properties[name].enum?.[0] ?? samples[schema.properties[name].type]]),
  )
}

process.on('message', (message) => {
  if (message.type === 'script') {
    script = message
    requests = []
    process.send({ type: 'ready' })
  } else {
    process.send({ type: 'requests', requests })
  }
})
process.on('disconnect', () => process.exit(0))
server.keepAliveTimeout = 60_000
// It stands for a provider on the network: a server on this machine would be asked for its window before the first request.
const own = Object.values(networkInterfaces()).flat()
const host = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1'
server.listen(0, host, () => process.send({ type: 'listening', host, port: server.address().port }))
