// What a provider's cache can keep of a long session, whatever happens on the way: every request begins with the bytes of the one before.
// A change of skills is a new file of a skill in the home; a server of tools that goes and comes back is a toolset that a later process of
// the session does not have, and the next one has again.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import {
  type CapturedRequest,
  checkPrefix,
  type ModelServer,
  type ModelStep,
  prefixLines,
  startModelServer,
  type TemporaryHome,
  temporaryHome,
} from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { AgentRequest, ReadyAgent, Runtime } from '../runtime.js'

const DAY_MS = 86_400_000
const SUMMARY = '## Active Task\nread on\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'

let temporary: TemporaryHome
let server: ModelServer
let home: string
let cwd: string
let skewMs = 0
const opened: Runtime[] = []

beforeEach(async () => {
  temporary = await temporaryHome()
  server = await startModelServer()
  home = join(temporary.path, 'user', '.hermes')
  cwd = join(temporary.path, 'work')
  for (const folder of [home, join(cwd, 'packages', 'api')]) await mkdir(folder, { recursive: true })
  await configure({})
  await writeFile(join(cwd, 'AGENTS.md'), 'Use tabs.')
  await writeFile(join(cwd, 'packages', 'api', 'AGENTS.md'), 'No any.')
  await writeFile(join(cwd, 'notes.txt'), 'a line of notes\n'.repeat(400))
  await writeFile(join(cwd, 'packages', 'api', 'a.ts'), 'export const a = 1\n')
  execFileSync('git', ['init', '-q'], { cwd })
})
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close()
  await server.close()
  await temporary.remove()
})

async function configure(more: object): Promise<void> {
  const model = { provider: 'custom', default: 'claude-like', base_url: server.baseUrl, context_length: 200_000 }
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model, memory: { flush_min_turns: 0 }, ...more }))
}

/** As a new process would go on: everything but the home is new. */
async function goOn(sessionId: string | null, request: Pick<AgentRequest, 'model'> = {}): Promise<ReadyAgent> {
  const userHome = join(temporary.path, 'user')
  const place = { home, userHome, cwd, tempDir: temporary.path, env: { PATH: process.env['PATH'] ?? '' } }
  // However long git takes here, what it says is told.
  const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(ms * 100, signal)
  const clock = { sleep, now: () => Date.now() + skewMs }
  const runtime = await openRuntime({ ...place, user: 'me', yolo: true, clock })
  opened.push(runtime)
  const session = sessionId === null ? null : await (await runtime.storage()).sessions.get(sessionId)
  return runtime.createAgent({ ...request, ...(session ? { session } : {}) })
}

const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, args: args as never }] })
const read = (offset: number) => call('read_file', { path: 'notes.txt', offset, limit: 5 })
const pages = (from: number, count: number) => Array.from({ length: count }, (_, index) => read(from + index * 5))
const isSummary = ({ body }: CapturedRequest) => JSON.stringify(body.messages[0]).includes('You write the record')

it('keeps the prefix over sixty requests with all that may come between them', async () => {
  const script: (ModelStep | (() => ModelStep))[] = []
  server.setHandler((request) => {
    if (isSummary(request)) return { text: SUMMARY }
    const next = script.shift() ?? { text: 'Done.' }
    return typeof next === 'function' ? next() : next
  })
  const say = async ({ agent }: ReadyAgent, text: string, ...turns: typeof script) => {
    script.push(...turns)
    const result = await agent.run(text).result
    expect(script).toEqual([])
    return result.status
  }

  const first = await goOn(null)
  const { sessionId } = first.agent
  await say(first, 'Read on.', ...pages(1, 10))
  await say(
    first,
    'Remember that I like tea.',
    call('memory', { action: 'add', content: 'Likes tea.', target: 'user' }),
  )
  await writeFile(join(home, 'memories', 'MEMORY.md'), 'The build runs on a Tuesday.\n')
  await mkdir(join(home, 'skills', 'pdf'), { recursive: true })
  await writeFile(join(home, 'skills', 'pdf', 'SKILL.md'), '---\nname: pdf\ndescription: fills forms\n---\nFill.\n')
  await say(first, 'Go on.', ...pages(60, 4), call('read_file', { path: 'packages/api/a.ts' }))

  skewMs = DAY_MS
  await writeFile(join(cwd, 'AGENTS.md'), 'Use spaces.')
  const nextDay = await goOn(sessionId)
  await say(nextDay, 'Go on, it is a new day.', ...pages(90, 5))

  const switched = await goOn(sessionId, { model: 'gpt-5-other' })
  await say(switched, 'Now you.', ...pages(120, 4))
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('Act through tools')
  await say(await goOn(sessionId, { model: 'claude-like' }), 'And back.', ...pages(150, 4))

  await configure({ agent: { disabled_toolsets: ['todo'] } })
  const without = await goOn(sessionId)
  await say(without, 'Plan.', call('todo_write', { todos: [{ id: '1', content: 'read', status: 'pending' }] }))
  await configure({})
  const steered = await goOn(sessionId)
  const steer = () => {
    void steered.agent.steer('Look at line 3 too.')
    return read(181)
  }
  await say(
    steered,
    'Plan again.',
    call('todo_write', { todos: [{ id: '1', content: 'read' }] }),
    steer,
    ...pages(190, 12),
  )
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('Look at line 3 too.')

  await writeFile(join(cwd, 'packages', 'api', 'a.ts'), 'export const a = 2 // by somebody else\n')
  skewMs += 60_000
  const interrupt = () => {
    steered.agent.interrupt()
    return read(260)
  }
  expect(await say(steered, 'Once more @file:packages/api/a.ts', read(255), interrupt)).toBe('interrupted')
  await say(steered, 'You were interrupted; go on.', ...pages(270, 5))
  expect(await steered.agent.compact()).toMatchObject({ type: 'compacted' })
  const compactedAt = server.requests.length
  await say(steered, 'After the summary.', ...pages(300, 8))
  await say(await goOn(sessionId), 'And in a new process.', ...pages(350, 3))

  const turns = server.requests.filter((request) => !isSummary(request))
  expect(turns.length).toBeGreaterThanOrEqual(60)
  const broken = turns.flatMap((next, index) => {
    const previous = turns[index - 1]
    const reason = previous && checkPrefix(previous, next)
    return reason ? [{ number: next.number, reason }] : []
  })
  expect(broken).toEqual([{ number: compactedAt + 1, reason: expect.any(String) }])
  expect(server.violations).toEqual([])
  expect(JSON.stringify(turns.at(-1)!.body.messages)).toContain('<runtime-state>')
  const share = cachedShare(turns)
  process.stdout.write(`${turns.length} requests, cached share ${(100 * share).toFixed(1)} %\n`)
  expect(share).toBeGreaterThanOrEqual(0.95)
})

/** Bytes that a cache would have had, from the third request on: the lines at the beginning that are those of the request before. */
function cachedShare(requests: readonly CapturedRequest[]): number {
  let cached = 0
  let all = 0
  for (let index = 2; index < requests.length; index++) {
    const [before, now] = [prefixLines(requests[index - 1]!), prefixLines(requests[index]!)]
    const same = now.findIndex((line, at) => line !== before[at])
    const bytes = (lines: readonly string[]) => lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
    cached += bytes(same < 0 ? now : now.slice(0, same))
    all += bytes(now)
  }
  return cached / all
}
