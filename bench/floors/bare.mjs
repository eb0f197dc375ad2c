// node bare.mjs BASE_URL PROMPT: the least an agent can be. A loop on fetch with one tool that reads a file.
import { readFile } from 'node:fs/promises'

const [baseUrl, prompt] = process.argv.slice(2)
const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Read a text file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  },
]
const messages = [
  { role: 'system', content: 'You are a helpful agent.' },
  { role: 'user', content: prompt },
]

while (true) {
  const message = await complete()
  messages.push(message)
  if (!message.tool_calls) break
  for (const call of message.tool_calls) {
    const { path } = JSON.parse(call.function.arguments)
    messages.push({ role: 'tool', tool_call_id: call.id, content: await readFile(path, 'utf8') })
  }
}
console.log(messages.at(-1).content)

async function complete() {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
    body: JSON.stringify({ model: 'bench', messages, tools, stream: true }),
  })
  const message = { role: 'assistant', content: '' }
  for await (const chunk of events(response.body)) {
    const delta = chunk.choices[0]?.delta ?? {}
    message.content += delta.content ?? ''
    for (const part of delta.tool_calls ?? []) addCall(message, part)
  }
  return message
}

function addCall(message, part) {
  message.tool_calls ??= []
  const call = (message.tool_calls[part.index] ??= {
    id: part.id,
    type: 'function',
    function: { name: '', arguments: '' },
  })
  call.function.name += part.function.name ?? ''
  call.function.arguments += part.function.arguments ?? ''
}

async function* events(body) {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice(6))
  }
}
