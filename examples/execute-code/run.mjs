// node examples/execute-code/run.mjs [OPTIONS OF hermes chat]: see README.md beside this file. Needs a built CLI (`npx -y pnpm@12 demo`
// builds it). Without options the model is a stand-in that always writes the same program; all else is real.
// Exit codes: those of hermes chat.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const TASK =
  'Which invoices in the folder invoices are OVERDUE and come to more than 1000? Write one program that finds them, and list them with their totals.'

const PROGRAM = `import re
from concurrent.futures import ThreadPoolExecutor
from hermes_tools import search_files, read_file

def total(name):
    return int(re.search(r"total: (\\d+)", read_file(name)["content"]).group(1))

names = sorted(search_files("OVERDUE", path="invoices", output_mode="files_only", limit=100)["files"])
with ThreadPoolExecutor(4) as pool:
    for name, amount in zip(names, pool.map(total, names)):
        if amount > 1000:
            print(name, amount)`

const folder = mkdtempSync(join(tmpdir(), 'hermes-example-'))
const server = createServer(answer)
try {
  writeInvoices(join(folder, 'invoices'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const standIn = ['--base-url', `http://127.0.0.1:${server.address().port}/v1`, '-m', 'stand-in']
  const options = process.argv.length > 2 ? process.argv.slice(2) : standIn
  const bin = join(import.meta.dirname, '../../apps/cli/dist/bin.js')
  const env = options === standIn ? { ...process.env, HERMES_HOME: join(folder, 'home') } : process.env
  const hermes = spawn(process.execPath, [bin, 'chat', '-q', TASK, ...options], { cwd: folder, env, stdio: 'inherit' })
  process.exitCode = (await once(hermes, 'close'))[0] ?? 1
} finally {
  server.close()
  rmSync(folder, { recursive: true, force: true })
}

/** 2,000 invoices of some 120 lines; nine are overdue. */
function writeInvoices(directory) {
  mkdirSync(directory)
  for (let number = 0; number < 2_000; number++) {
    const lines = Array.from({ length: 120 }, (_, line) => `position ${line}: ${(number * 31 + line * 7) % 997} pieces`)
    lines.push(`total: ${(number * 37) % 2_000}`, `status: ${number % 223 === 0 ? 'OVERDUE' : 'settled'}`)
    writeFileSync(join(directory, `${String(number).padStart(4, '0')}.txt`), `${lines.join('\n')}\n`)
  }
}

/** The stand-in for a model: the program first, then what it printed. */
async function answer(request, response) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  if (request.method !== 'POST') return response.writeHead(404).end()
  const last = JSON.parse(Buffer.concat(chunks)).messages.at(-1)
  const call = { name: 'execute_code', arguments: JSON.stringify({ code: PROGRAM }) }
  const delta =
    last.role === 'tool'
      ? { content: `These are overdue and large:\n${last.content}` }
      : { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] }
  const event = (choice) =>
    `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'stand-in', choices: [choice] })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event({ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }))
  response.write(event({ index: 0, delta: {}, finish_reason: last.role === 'tool' ? 'stop' : 'tool_calls' }))
  response.end('data: [DONE]\n\n')
}
