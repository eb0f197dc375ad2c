// node process.mjs '{"rounds":7}': what a call of an MCP server costs beside the bare SDK, and a hook in the process of a plugin; samples as JSON.
const { createAgent } = await import('../../packages/agent-core/src/index.ts')
const { createToolRegistry, CORE_TOOLSETS } = await import('../../packages/registry/src/index.ts')
const { openRuntime } = await import('../../packages/runtime/src/index.ts')
const { spawn } = await import('node:child_process')
const { createRequire } = await import('node:module')
const { createInterface } = await import('node:readline')
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')

const { rounds } = JSON.parse(process.argv[2])
const [AT_ONCE, REPLIES, HOOK_CALLS] = [64, 20, 1_000]
const SERVER = join(import.meta.dirname, '../../packages/runtime/src/__fixtures__/mcp-server.mjs')
const sdk = createRequire(join(import.meta.dirname, '../../packages/mcp/package.json'))
const { Client } = await import(sdk.resolve('@modelcontextprotocol/client'))
const { StdioClientTransport } = await import(sdk.resolve('@modelcontextprotocol/client/stdio'))

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
}
const stamp = { provider: 'bench', endpoint: '', model: 'bench' }
const args = { name: 'mcp__bench__echo', arguments: { text: 'again' } }

/** A model that makes 64 calls a reply. */
function scripted() {
  let reply = 0
  return {
    provider: 'bench',
    model: 'bench',
    async *stream() {
      const isDone = reply++ === REPLIES
      const call = (n) => ({
        type: 'tool-call',
        id: `c${reply}-${n}`,
        name: 'tool_call',
        args,
        rawArgs: JSON.stringify(args),
      })
      const content = isDone ? [{ type: 'text', text: 'Done.' }] : Array.from({ length: AT_ONCE }, (_, n) => call(n))
      yield {
        type: 'finish',
        message: { role: 'assistant', content, finishReason: isDone ? 'stop' : 'tool-calls' },
        usage,
        stamp,
      }
    },
  }
}

async function cpuPerCall(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / (AT_ONCE * REPLIES)
}

const base = mkdtempSync(join(tmpdir(), 'hermes-bench-'))
const [home, work, plugin] = ['home', 'work', 'guard'].map((name) => join(base, name))
for (const folder of [home, work, plugin]) mkdirSync(folder)
const config = {
  mcp_servers: { bench: { command: process.execPath, args: [SERVER, 'looks'] } },
  checkpoints: { enabled: false },
  terminal: { isolation: 'off' },
}
writeFileSync(join(home, 'config.yaml'), JSON.stringify(config))
const schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const ours = { 'io.github.hermes-agent': { extension: './index.js' } }
writeFileSync(join(plugin, 'plugin.json'), JSON.stringify({ $schema: schema, name: 'guard', extensions: ours }))
writeFileSync(
  join(plugin, 'index.js'),
  "export default { name: 'guard', setup: (api) => { api.hooks.on('before-tool-call', () => undefined) } }\n",
)
const place = { home, userHome: base, cwd: work, tempDir: base, user: 'bench', env: { PATH: process.env.PATH } }
const signal = new AbortController().signal
const command = (runtime, name, words, flags = {}) => {
  const { item } = runtime.extensions.list('command').find((one) => one.item.name === name)
  const caller = { platform: 'cli', user: 'bench', isOwner: true, changes: [] }
  return item.run({ words, ...flags }, { caller, session: null, cwd: work, commands: [], notice() {}, signal })
}

async function mcpCalls(runtime) {
  await command(runtime, 'mcp', ['test', 'bench'])
  const registry = createToolRegistry({ disclosure: { mode: 'auto', budgetTokens: 10_000, core: CORE_TOOLSETS } })
  registry.use(runtime.extensions.tools)
  while (runtime.extensions.tools.get(args.name) === null) await new Promise(setImmediate)
  const run = async () => {
    const store = await runtime.storage()
    const tools = { registry, toolsets: { enabled: ['hermes-cli'], disabled: [] } }
    const safety = { policy: runtime.policy }
    const agent = createAgent({
      model: scripted(),
      tools,
      safety,
      session: { store },
      extensions: [],
      steps: { max: REPLIES + 1 },
    })
    const { status, error } = await agent.run('go').result
    const last = agent.entries().findLast((entry) => entry.type === 'message' && entry.message.role === 'tool')
    if (status !== 'completed' || !JSON.stringify(last).includes('You said again'))
      throw new Error(JSON.stringify(error ?? last ?? status))
  }
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SERVER, 'looks'], stderr: 'ignore' }),
  )
  await client.listTools()
  const bare = async () => {
    for (let reply = 0; reply < REPLIES; reply++)
      await Promise.all(
        Array.from({ length: AT_ONCE }, () => client.callTool({ name: 'echo', arguments: args.arguments })),
      )
  }
  const samples = []
  for (let round = -2; round < rounds; round++) {
    const [theirs, whole] = [await cpuPerCall(bare), await cpuPerCall(run)]
    // The first rounds warm the process up.
    if (round >= 0) samples.push(Math.max(0, whole - theirs))
  }
  await client.close()
  return samples
}

/** A bare child process that writes back the lines it reads. */
async function startEcho() {
  const child = spawn(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: child.stdout })
  const ask = () =>
    new Promise((resolve) => {
      lines.once('line', resolve)
      child.stdin.write('{"id":1}\n')
    })
  await ask()
  return { ask, end: () => child.kill() }
}

async function p95(ask) {
  const times = []
  for (let n = 0; n < HOOK_CALLS; n++) {
    const startMs = performance.now()
    await ask()
    times.push(performance.now() - startMs)
  }
  return times.sort((one, other) => one - other)[Math.floor(HOOK_CALLS * 0.95)]
}

async function hookCalls(runtime) {
  const hook = runtime.extensions.hooks.at('before-tool-call').find(({ owner }) => owner === 'plugin-guard')
  const event = {
    ...{ runId: 'r', callId: 'c', caller: 'model', args: { n: 1 }, rawArgs: '{"n":1}', reply: 1, platform: 'cli' },
    ...{ agentPath: ['root'], environment: null, signal, session: { id: 's', isTainted: false } },
    ...{ tool: { name: 'look', toolset: 'bench', description: 'Looks.' }, model: { provider: 'b', model: 'b' } },
  }
  const echo = await startEcho()
  const samples = { hook: [], echo: [] }
  for (let round = -1; round < rounds; round++) {
    const [theirs, ours] = [await p95(echo.ask), await p95(() => hook.handler(event))]
    if (round < 0) continue
    samples.echo.push(theirs)
    samples.hook.push(ours)
  }
  echo.end()
  return samples
}

const before = await openRuntime(place)
await command(before, 'plugins', ['install', plugin], { enable: true })
await before.close()
const runtime = await openRuntime(place)
if (runtime.problems.length > 0) throw new Error(runtime.problems.join('\n'))
const result = { call: await mcpCalls(runtime), ...(await hookCalls(runtime)) }
await runtime.close()
rmSync(base, { recursive: true, force: true })
process.stdout.write(JSON.stringify(result))
process.exit(0)
