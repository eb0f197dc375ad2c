// node --expose-gc process.mjs '{"rounds":7}': measures in this process what hooks cost a tool call, and prints samples as JSON.
const { createAgent, createExtensionRegistry, standardExtensions } = await import(
  '../../packages/agent-core/src/index.ts'
)
const { silentLogger } = await import('../../packages/contracts/src/index.ts')
const { openRuntime } = await import('../../packages/runtime/src/index.ts')
const { mkdtempSync, rmSync } = await import('node:fs')
const { registerHooks } = await import('node:module')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { setImmediate } = await import('node:timers/promises')

const CALLS = 400
const PER_REPLY = 8
const WARM_UP = 4
const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
}
const stamp = { provider: 'bench', endpoint: '', model: 'bench' }
const { rounds } = JSON.parse(process.argv[2])

/** A model that calls the tool eight times a reply, and is done after all calls. */
function scripted() {
  let made = 0
  return {
    provider: 'bench',
    model: 'bench',
    async *stream() {
      const content = []
      for (let n = 0; n < PER_REPLY && made < CALLS; n++) {
        made++
        content.push({ type: 'tool-call', id: `c${made}`, name: 'look', args: { n: made }, rawArgs: `{"n":${made}}` })
      }
      const isDone = content.length === 0
      if (isDone) content.push({ type: 'text', text: 'Done.' })
      const message = { role: 'assistant', content, finishReason: isDone ? 'stop' : 'tool-calls' }
      yield { type: 'finish', message, usage, stamp }
    },
  }
}

const look = {
  name: 'look',
  toolset: 'bench',
  description: 'Looks.',
  effect: 'read',
  concurrency: 'parallel',
  parameters: { type: 'object', properties: { n: { type: 'integer' } } },
  actions: ({ n }) => [{ type: 'read', path: `/w/${n}`, backend: 'local' }],
  execute: ({ n }) => `seen ${n}`,
}

const handlers = (name, points) => ({
  name,
  setup({ hooks }) {
    for (const point of points) hooks.on(point, () => undefined)
  },
})
const times = (count, point) => Array.from({ length: count }, () => point)
// Plan mode, truncation markers, loop guard, checkpoints; todo reminder, loop guard, environment context, learning hints; the last two act.
const BUILT_IN = [...times(4, 'before-tool-call'), ...times(4, 'tool-result'), ...times(2, 'before-action')]
const CASES = {
  none: [],
  builtIn: [handlers('built-in', BUILT_IN)],
  observers: [handlers('observers', times(50, 'before-action'))],
}

async function timeOf(extensions) {
  globalThis.gc()
  const agent = createAgent({ model: scripted(), tools: [look], extensions, steps: { max: CALLS } })
  // Processor time: what else the machine does must not decide.
  const before = process.cpuUsage()
  const { status } = await agent.run('go').result
  if (status !== 'completed') throw new Error(`the run ended as ${status}`)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / CALLS
}

/** The longest setup among the parts of a home. @throws when setting them up loads a third-party module */
async function slowestSetup() {
  const home = mkdtempSync(join(tmpdir(), 'hermes-bench-'))
  const loaded = []
  let slowest = 0
  const timed = (extension) => ({
    ...extension,
    setup: (api) => {
      watch ??= registerHooks({
        resolve: (specifier, context, next) => {
          const resolved = next(specifier, context)
          if (resolved.url.includes('/node_modules/')) loaded.push(specifier)
          return resolved
        },
      })
      const startedMs = performance.now()
      const undo = extension.setup(api)
      slowest = Math.max(slowest, performance.now() - startedMs)
      return undo
    },
  })
  let watch
  const place = { home, userHome: home, cwd: home, tempDir: home, user: 'bench', env: {} }
  const runtime = await openRuntime({ ...place, extensions: (builtIn) => builtIn.map(timed) })
  await setImmediate()
  watch.deregister()
  await runtime.close()
  rmSync(home, { recursive: true, force: true })
  if (loaded.length > 0) throw new Error(`setting extensions up loads ${loaded.join(', ')}`)
  return slowest
}

const samples = { builtIn: [], observers: [], setup: [], slowest: [] }
for (let round = 0; round < WARM_UP + rounds; round++) {
  const none = await timeOf(CASES.none)
  const [builtIn, observers] = [await timeOf(CASES.builtIn), await timeOf(CASES.observers)]
  const startedMs = performance.now()
  createExtensionRegistry(standardExtensions(), { logger: silentLogger })
  const setup = performance.now() - startedMs
  const slowest = await slowestSetup()
  // The first rounds warm the process up.
  if (round < WARM_UP) continue
  samples.builtIn.push(Math.max(0, builtIn - none))
  samples.observers.push(Math.max(0, observers - none))
  samples.setup.push(setup)
  samples.slowest.push(slowest)
}
process.stdout.write(JSON.stringify(samples))
