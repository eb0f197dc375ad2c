// Kills the CLI with SIGKILL at chosen phases and random moments of a tool-using run. After each kill everything that had been shown
// must be in the database, the database sound, the session must go on with `-c`, and no command may have run twice.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openStorage } from '@hermes/storage'
import { type ModelServer, type ModelTurn, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseEvents, runCli, startCli } from '../support/cli.js'

const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 30)
const SEED = Number(process.env['HERMES_TEST_SEED'] ?? Date.now() % 1_000_000)
const CALLS = 6

/** Where a kill falls: after which sign of life, and how long after it at most. */
const PHASES = [
  { name: 'start', after: 'spawn', withinMs: 250 },
  { name: 'model', after: 'message-delta', withinMs: 40 },
  { name: 'before-tool', after: 'message-end', withinMs: 5 },
  { name: 'tool', after: 'tool-start', withinMs: 60 },
  { name: 'between', after: 'tool-end', withinMs: 20 },
  { name: 'end', after: 'final', withinMs: 20 },
] as const

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

/** Turn N runs a command that leaves a mark of its own, however often the run was interrupted. */
function script(messages: readonly { readonly role: string }[]): ModelTurn {
  const made = messages.filter((message) => message.role === 'assistant').length
  if (made >= CALLS) return { text: `All ${CALLS} steps are done.`, chunkSize: 4, latencyMs: 1 }
  const command = `echo step-${made} >> effects.log && sleep 0.03 && echo done ${made}`
  return {
    text: `Step ${made} comes now.`,
    chunkSize: 4,
    latencyMs: 1,
    toolCalls: [{ id: `call_${made}`, name: 'terminal', args: { command } }],
  }
}

describe(`a run killed ${KILLS} times (seed ${SEED})`, () => {
  it('loses nothing that was shown, stays sound, continues, and repeats no side effect', {
    timeout: KILLS * 20_000,
  }, async () => {
    const random = mulberry32(SEED)
    const hit = new Map<string, number>()
    server.setHandler(({ body }) => script(body.messages))
    for (let kill = 0; kill < KILLS; kill++) {
      const phase = PHASES[kill % PHASES.length]!
      const log = await killOnce(phase, random)
      hit.set(log.phase, (hit.get(log.phase) ?? 0) + 1)
    }
    expect(server.violations).toEqual([])
    for (const phase of PHASES) expect(hit.get(phase.name), `kills in phase ${phase.name}`).toBeGreaterThan(0)
  })
})

async function killOnce(phase: (typeof PHASES)[number], random: () => number) {
  await using home = await temporaryHome()
  const options = { home: join(home.path, '.hermes'), cwd: home.path }
  const flags = ['--base-url', server.baseUrl, '-m', 'test', '--yolo', '--json']
  const child = startCli(['chat', '-q', 'Do the steps.', ...flags], options)
  const sign = 1 + Math.floor(random() * 4)
  const delayMs = random() * phase.withinMs
  let stdout = ''
  let seen = 0
  let armed = phase.after === 'spawn'
  const kill = () => setTimeout(() => child.kill('SIGKILL'), delayMs)
  if (armed) kill()
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (armed) return
    const isSign = phase.after === 'final' ? text.includes(`All ${CALLS}`) : text.includes(`"type":"${phase.after}"`)
    if (!isSign || (++seen < sign && phase.after !== 'final')) return
    armed = true
    kill()
  })
  await new Promise((resolve) => child.once('close', resolve))
  const shown = parseEvents(stdout).filter((event) => event.type === 'message-end' || event.type === 'tool-end')
  await expectStored(options.home, shown)
  const wasStarted = await hasSession(options.home)
  if (wasStarted) {
    const resumed = await runCli(['chat', '-c', '-q', 'Go on.', ...flags], options)
    expect({ exitCode: resumed.exitCode, stderr: resumed.stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(parseEvents(resumed.stdout).at(-1)).toMatchObject({ type: 'run-end', result: { status: 'completed' } })
  }
  const effects = (await readFile(join(home.path, 'effects.log'), 'utf8').catch(() => '')).trim().split('\n')
  expect(new Set(effects).size, `effects: ${effects.join(' ')}`).toBe(effects.length)
  await rm(join(home.path, 'effects.log'), { force: true })
  return { phase: phase.name }
}

async function expectStored(
  home: string,
  shown: readonly { readonly type: string; readonly seq?: number; readonly sessionId: string }[],
) {
  if (shown.length === 0) return
  const storage = await openStorage({ path: join(home, 'state.db') })
  try {
    expect(await storage.integrityCheck()).toEqual([])
    const entries = await storage.entries(shown[0]!.sessionId)
    const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
    for (const event of shown) {
      const entry = bySeq.get(event.seq!)
      expect(entry?.type, `entry ${event.seq}`).toBe('message')
      const stored = (entry as { message: { content: unknown } }).message
      if ('message' in event) expect(stored).toEqual(event.message)
      else
        expect(
          (stored.content as unknown[]).slice(0, (event as unknown as { content: unknown[] }).content.length),
        ).toEqual((event as unknown as { content: unknown }).content)
    }
  } finally {
    await storage.close()
  }
}

async function hasSession(home: string): Promise<boolean> {
  const storage = await openStorage({ path: join(home, 'state.db') }).catch(() => null)
  try {
    return (await storage?.latestSession()) != null
  } finally {
    await storage?.close()
  }
}

/** A small seeded random generator, so that a failing run can be repeated. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
