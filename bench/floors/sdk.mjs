// node sdk.mjs BASE_URL PROMPT: the loop of bare.mjs on the openai SDK, unbundled.
import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'

const [baseURL, prompt] = process.argv.slice(2)
const client = new OpenAI({ baseURL, apiKey: 'x', maxRetries: 0 })
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
  const stream = await client.chat.completions.create({ model: 'bench', messages, tools, stream: true })
  const message = { role: 'assistant', content: '' }
  for await (const chunk of stream) {
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
