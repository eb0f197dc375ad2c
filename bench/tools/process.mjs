// node --expose-gc process.mjs '{"directory":…,"rounds":…,"part":"large"}': measures the file and shell tools in this process and prints
// samples as JSON. Parts: large, search, parallel, commands, interrupt, flood.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const { createAgent } = await import('../../packages/agent-core/src/index.ts')
const { createLocalEnvironment } = await import('../../packages/sandbox/src/index.ts')
const { createPermit } = await import('../../packages/safety/src/index.ts')
const { createToolRegistry } = await import('../../packages/registry/src/index.ts')
const { createReadFileTool, createSearchFilesTool, createTerminalTool } = await import(
  '../../packages/tools/src/index.ts'
)

const MIB = 2 ** 20
const { directory, rounds, part } = JSON.parse(process.argv[2])
for (const name of ['work', 'home', 'output']) mkdirSync(join(directory, name), { recursive: true })
const work = join(directory, 'work')

function open(PATH) {
  const [home, outputDir] = [join(directory, 'home'), join(directory, 'output')]
  const environment = createLocalEnvironment({ cwd: work, home, outputDir, env: { PATH, HOME: home } })
  const registry = createToolRegistry({ tools: [createReadFileTool(), createSearchFilesTool(), createTerminalTool()] })
  const session = () => {
    const scratch = new Map()
    const state = {
      latest: () => null,
      compactions: () => 0,
      scratch: (key, create) => scratch.get(key) ?? scratch.set(key, create()).get(key),
    }
    const context = {
      signal: new AbortController().signal,
      sessionId: 's',
      callId: 'c',
      agentPath: ['root'],
      environment,
      permit: async (action) => createPermit(action),
      progress: () => undefined,
      ask: async () => ({ type: 'unanswered', reason: '' }),
      state,
    }
    return async (name, args) => {
      const startMs = performance.now()
      const outcome = await registry.dispatch(name, args, context)
      if (outcome.isError) throw new Error(outcome.content[0].text)
      return { ms: performance.now() - startMs, outcome }
    }
  }
  return { environment, session }
}

const timed = (work) => {
  const startMs = performance.now()
  work()
  return performance.now() - startMs
}

/** Ten million lines of about a hundred characters. */
async function large({ session }) {
  const path = join(work, 'large.log')
  const lines = Array.from(
    { length: 10_000 },
    (_, at) => `${String(at).padStart(8)} ${'some words of a log line '.repeat(4)}`,
  )
  const chunk = Buffer.from(`${lines.join('\n')}\n`)
  const file = openSync(path, 'w')
  let written = 0
  while (written < 1_000_000_000) written += writeSync(file, chunk)
  closeSync(file)
  const deep = Math.floor(written / chunk.length) * 10_000 - 5_000
  const samples = { first: [], deepOverWc: [], again: [], memoryMib: [] }
  for (let round = 0; round <= Math.min(rounds, 3); round++) {
    const wcMs = timed(() => execFileSync('wc', ['-l', path]))
    globalThis.gc()
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const call = session()
    const first = await call('read_file', { path, limit: 100 })
    const once = await call('read_file', { path, offset: deep, limit: 100 })
    const again = await call('read_file', { path, offset: deep - 2_000, limit: 100 })
    clearInterval(watch)
    if (round === 0) continue
    samples.first.push(first.ms)
    samples.deepOverWc.push(once.ms / wcMs)
    samples.again.push(again.ms)
    samples.memoryMib.push((peak - before) / MIB)
  }
  rmSync(path)
  return samples
}

/** A hundred thousand small files, one in a thousand of which holds the word. */
async function search(withRg) {
  for (let folder = 0; folder < 1_000; folder++) {
    mkdirSync(join(work, 'tree', `f${folder}`), { recursive: true })
    for (let at = 0; at < 100; at++) {
      const text = `export const a${at} = ${folder}\nfunction name${at}() {}\n${at === 7 && folder % 10 === 0 ? 'needle here\n' : ''}`
      writeFileSync(join(work, 'tree', `f${folder}`, `m${at}.ts`), text.repeat(4))
    }
  }
  const withoutRg = open(join(directory, 'nothing'))
  const args = { pattern: 'needle', path: 'tree', limit: 50 }
  const samples = { overRg: [], withoutOverRg: [] }
  for (let round = 0; round <= Math.min(rounds, 5); round++) {
    const rgMs = timed(() => execFileSync('rg', ['-n', 'needle', 'tree'], { cwd: work, maxBuffer: 64 * MIB }))
    const ours = await withRg.session()('search_files', args)
    const without = await withoutRg.session()('search_files', args)
    if (round === 0) continue
    samples.overRg.push(ours.ms / rgMs)
    samples.withoutOverRg.push(without.ms / rgMs)
  }
  await withoutRg.environment.close()
  rmSync(join(work, 'tree'), { recursive: true })
  return samples
}

/** How many of eight reads that a model asks for at once are under way together. */
async function parallel() {
  const overlap = []
  for (let round = 0; round < rounds; round++) {
    let [running, most] = [0, 0]
    const slow = {
      name: 'look',
      toolset: 'bench',
      description: 'Looks.',
      effect: 'read',
      concurrency: 'parallel',
      parameters: { type: 'object', properties: { n: { type: 'integer' } } },
      execute: async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
        return 'seen'
      },
    }
    const calls = Array.from({ length: 8 }, (_, n) => ({
      type: 'tool-call',
      id: `c${n}`,
      name: 'look',
      args: { n },
      rawArgs: JSON.stringify({ n }),
    }))
    await createAgent({ model: scripted(calls), tools: [slow] }).run('Look.').result
    overlap.push(most)
  }
  return { overlap }
}

const childrenOfMine = () => {
  const all = execFileSync('ps', ['-eo', 'ppid=,stat='], { encoding: 'utf8' }).split('\n')
  return all.map((line) => line.trim().split(/\s+/)).filter(([parent]) => Number(parent) === process.pid)
}
const openFiles = () => readdirSync('/proc/self/fd').length
const handles = () =>
  process.getActiveResourcesInfo().filter((name) => !/^(?:TTY|Pipe|FSReq|Immediate)/.test(name)).length

async function commands({ session }) {
  const call = session()
  for (let at = 0; at < 5; at++) await call('terminal', { command: 'true' })
  const before = openFiles() + handles()
  for (let at = 0; at < 1_000; at++) await call('terminal', { command: at % 10 === 0 ? 'sleep 0 & true' : 'true' })
  await new Promise((resolve) => setTimeout(resolve, 200))
  const zombies = childrenOfMine().filter(([, stat]) => stat.startsWith('Z')).length
  return { zombies, left: Math.max(0, openFiles() + handles() - before) }
}

/** A turn that calls `calls`, then one that ends. */
function scripted(calls) {
  let turn = 0
  const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cost: 'unknown' }
  return {
    provider: 'p',
    model: 'm',
    async *stream() {
      const content = turn++ === 0 ? calls : [{ type: 'text', text: 'Done.' }]
      const finishReason = turn === 1 ? 'tool-calls' : 'stop'
      yield { type: 'finish', message: { role: 'assistant', content, finishReason }, usage, stamp }
    },
  }
}

const isThere = (pid) => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** What a stop costs: a tree of which a part ignores every signal it can, with more calls of the same message behind it. */
async function interrupt({ environment }) {
  const samples = { laterStarts: [], goneMs: [], stubbornGoneMs: [] }
  const stubborn = 'sh -c \'trap "" TERM INT HUP; echo $$ >> pids; while :; do sleep 0.1; done\' &'
  const meek = "sh -c 'echo $$ >> pids; while :; do sleep 0.1; done' &"
  for (const [name, tree] of [
    ['goneMs', meek.repeat(3)],
    ['stubbornGoneMs', meek + stubborn + stubborn],
  ])
    for (let round = 0; round < Math.min(rounds, 5); round++) {
      rmSync(join(work, 'pids'), { force: true })
      const command = `${tree} while [ "$(wc -l < pids 2>/dev/null)" != 3 ]; do sleep 0.01; done; echo ready; wait`
      const calls = Array.from({ length: 8 }, (_, n) => {
        const args = { command: n === 0 ? command : 'echo $$ >> pids; sleep 60' }
        return { type: 'tool-call', id: `c${n}`, name: 'terminal', args, rawArgs: JSON.stringify(args) }
      })
      const agent = createAgent({ model: scripted(calls), tools: [createTerminalTool()], environment })
      const run = agent.run('Go.')
      let stoppedMs = 0
      let later = 0
      for await (const event of run) {
        if (event.type === 'tool-start' && stoppedMs > 0) later++
        if (event.type !== 'tool-progress' || !event.text.includes('ready') || stoppedMs > 0) continue
        stoppedMs = performance.now()
        agent.interrupt('user')
      }
      const pids = readFileSync(join(work, 'pids'), 'utf8').trim().split('\n')
      while (pids.some(isThere)) await new Promise((resolve) => setTimeout(resolve, 5))
      samples[name].push(performance.now() - stoppedMs)
      samples.laterStarts.push(later + pids.length - 3)
    }
  return samples
}

/** A command that writes a gigabyte of raw bytes. */
async function flood({ session }) {
  const samples = { memoryMib: [], chars: [] }
  for (let round = 0; round < Math.min(rounds, 2); round++) {
    globalThis.gc()
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const { outcome } = await session()('terminal', { command: 'head -c 1000000000 /dev/urandom', timeout: 120 })
    clearInterval(watch)
    samples.memoryMib.push((peak - before) / MIB)
    samples.chars.push(outcome.content[0].text.length)
  }
  return samples
}

const PATH = '/usr/local/bin:/usr/bin:/bin'
const here = open(PATH)
const measured = await { large, search, parallel, commands, interrupt, flood }[part](here)
await here.environment.close()
console.log(JSON.stringify(measured))
process.exit(0)
