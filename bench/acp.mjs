// The ACP server as an editor meets it: how soon it answers the greeting, and what a prompt without tools costs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { interleave, ratios, runNode, scratchEnvironment } from './measure.mjs'
import { atMost, row } from './report.mjs'

const ACP = join(import.meta.dirname, '../apps/acp/dist/bin.js')
const PROMPTS = 10

/** Start to `initialize` answered, against Node doing nothing; then prompts of one session, the first left out. */
export async function acpServer({ rounds, workspace, server }) {
  await server.script({ turns: 0, text: 'All read.' })
  const greeted = async () => {
    const editor = startEditor(server.baseUrl, workspace)
    const greetedMs = await editor.greet()
    await editor.leave()
    return greetedMs
  }
  const { node, greeting } = await interleave(rounds, {
    node: async () => (await runNode(['-e', '0'], { workspace })).wallMs,
    greeting: greeted,
  })
  const prompts = []
  for (let round = 0; round < rounds; round++) prompts.push(await timePrompts(server.baseUrl, workspace))
  return [
    row('node -e 0', 'ms', node),
    row('ACP: start to initialize answered', 'ms', greeting),
    row('  over node', 'x', ratios(greeting, node), atMost(3)),
    row(
      'ACP: second prompt',
      'ms',
      prompts.map(([second]) => second),
      atMost(30),
    ),
    row(
      'ACP: later prompts',
      'ms',
      prompts.flatMap(([, ...later]) => later),
    ),
  ]
}

/** How long the second and later prompts of a session took. */
async function timePrompts(baseUrl, workspace) {
  const editor = startEditor(baseUrl, workspace)
  await editor.greet()
  const { sessionId } = await editor.ask('session/new', { cwd: workspace.cwd, mcpServers: [] })
  const times = []
  for (let count = 0; count < PROMPTS; count++) {
    const startedMs = performance.now()
    await editor.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Read the notes.' }] })
    times.push(performance.now() - startedMs)
  }
  await editor.leave()
  return times.slice(1)
}

/** The server and the smallest client there can be. */
function startEditor(baseUrl, workspace) {
  const startedMs = performance.now()
  const args = [ACP, '--base-url', baseUrl, '-m', 'bench']
  const child = spawn(process.execPath, args, {
    cwd: workspace.cwd,
    env: scratchEnvironment(workspace),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line)
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result)
  })
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = waiting.size
      waiting.set(id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  return {
    ask,
    greet: async () => {
      await ask('initialize', { protocolVersion: 1 })
      return performance.now() - startedMs
    },
    leave: async () => {
      child.stdin.end()
      const [code] = await closed
      if (code !== 0) throw new Error(`the ACP server ended with ${code}`)
    },
  }
}
