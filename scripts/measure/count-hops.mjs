// The hops of `hermes chat -q`, from the sources of a clone, against a model server that says one word.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/**
 * @param {string} root of a clone whose dependencies are installed
 * @returns {Promise<string[]>} `name (file:line)`, the innermost first
 * @throws Error with what the program said when it sent no request
 */
export async function countHops(root) {
  const home = mkdtempSync(join(tmpdir(), 'hermes-hops-'))
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    const choice = { index: 0, delta: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }
    response.end(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\ndata: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const hops = join(home, 'hops.json')
    const endpoint = ['--base-url', `http://127.0.0.1:${server.address().port}/v1`, '--provider', 'custom', '-m', 'm']
    const trace = join(import.meta.dirname, 'trace-hops.mjs')
    const child = spawn(
      process.execPath,
      ['--conditions=@hermes/source', `--import=${trace}`, 'apps/cli/src/bin.ts', 'chat', '-q', 'hi', ...endpoint],
      {
        cwd: root,
        env: {
          PATH: process.env.PATH,
          HOME: home,
          HERMES_HOME: join(home, '.hermes'),
          HERMES_HOPS: hops,
          OPENAI_API_KEY: 'x',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    const found = text(child.stderr)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`measure: hermes chat ended with ${code}: ${await found}`)
    return JSON.parse(readFileSync(hops, 'utf8'))
  } finally {
    server.close()
    rmSync(home, { recursive: true, force: true })
  }
}
