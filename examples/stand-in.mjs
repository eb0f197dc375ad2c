// What the examples share: a stand-in for a model on this machine, so that they run without a key, and one run of the built CLI.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'

/**
 * Runs `hermes chat -q TASK` in a folder to its end. With `options` they go to the CLI and your own model answers; without, `answer` does:
 * it gets the messages of a request and gives `{ text }` or `{ calls: [{ name, args }] }`.
 * @returns {Promise<number>} the exit code
 */
export async function runHermes({ task, folder, options, answer }) {
  const server = createServer((request, response) => respond(request, response, answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fallback = ['--base-url', `http://127.0.0.1:${server.address().port}/v1`, '-m', 'stand-in']
  const isOwn = options.length > 0
  const bin = join(import.meta.dirname, '../apps/cli/dist/bin.js')
  const env = isOwn ? process.env : { ...process.env, HERMES_HOME: join(folder, 'home') }
  const args = [bin, 'chat', '-q', task, ...(isOwn ? options : fallback)]
  const hermes = spawn(process.execPath, args, { cwd: folder, env, stdio: 'inherit' })
  const [exitCode] = await once(hermes, 'close')
  server.close()
  return exitCode ?? 1
}

async function respond(request, response, answer) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  // Which server this is, and what window it has, is asked as well.
  if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end()
  const { text, calls } = answer(JSON.parse(Buffer.concat(chunks)).messages)
  const delta = calls ? { tool_calls: calls.map(toCall) } : { content: text }
  const event = (choice) =>
    `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'stand-in', choices: [choice] })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event({ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }))
  response.write(event({ index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }))
  response.end('data: [DONE]\n\n')
}

function toCall({ name, args }, index) {
  return { index, id: `call_${index + 1}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}
