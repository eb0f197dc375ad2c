// Many tasks, three at a time, whose models stall, fail and talk nonsense, and whose agent is killed and started again in between:
// exactly one result for each, no process left, and a conversation that grows by summaries only. HERMES_TEST_CHILDREN sets how many.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageText } from '@hermes/contracts/conversation'
import { openStorage, type Storage } from '@hermes/storage'
import {
  type CapturedRequest,
  checkPrefix,
  type ModelServer,
  type ModelStep,
  startModelServer,
  temporaryHome,
} from '@hermes/testkit'
import { commandLines } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'

const CHILDREN = Number(process.env['HERMES_TEST_CHILDREN'] ?? 18)
const TASKS_PER_CALL = 3
const KILLS = Math.ceil(CHILDREN / 9)
const LONGEST_LIFE_MS = 2_500
/** Characters a task may cost its parent, call and result together. */
const CHARS_PER_TASK = 1_500
const SECRET_OF_CHILDREN = 'only children read this'

type Message = CapturedRequest['body']['messages'][number]
const textOf = (message: Message) =>
  String(typeof message.content === 'string' ? message.content : JSON.stringify(message.content))
const isChild = ({ body }: CapturedRequest) => textOf(body.messages[0]!).includes('You were started by another agent')
const STARTED = /Started in the background: ([^.]+)\./
const RESULT = /\[Background task (task-[0-9a-f]{6}) \(/g

it(
  `gives one result each to ${CHILDREN} tasks, whatever happens to them and to their agent`,
  async () => {
    await using temporary = await temporaryHome()
    const [home, cwd] = [join(temporary.path, '.hermes'), join(temporary.path, 'work')]
    const server = await startModelServer()
    const marker = `6543${process.pid % 1000}`
    try {
      await mkdir(home)
      await mkdir(cwd)
      await writeFile(join(cwd, 'large.txt'), `${SECRET_OF_CHILDREN}\n`.repeat(1_200))
      await writeFile(join(home, 'config.yaml'), configFor(server))
      let allowed = 0
      server.setHandler((request) => (isChild(request) ? childTurn(request, marker) : parentTurn(request, allowed)))
      for (let life = 0; life <= KILLS; life++) {
        allowed = Math.ceil((CHILDREN * (life + 1)) / (KILLS + 1))
        await runFor(life === KILLS ? null : 400 + Math.random() * LONGEST_LIFE_MS, { home, cwd })
      }

      const storage = await openStorage({ path: join(home, 'state.db') })
      try {
        await expectOneResultEach(storage)
      } finally {
        await storage.close()
      }
      const parents = server.requests.filter((request) => !isChild(request))
      for (const [index, request] of parents.slice(1).entries())
        expect(checkPrefix(parents[index]!, request)).toBeNull()
      const sizes = parents
        .at(-1)!
        .body.messages.slice(1)
        .map((message) => JSON.stringify(message).length)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(
        CHARS_PER_TASK * (CHILDREN + TASKS_PER_CALL * KILLS),
      )
      expect(JSON.stringify(parents.at(-1)!.body)).not.toContain(SECRET_OF_CHILDREN)
      await expect
        .poll(() => commandLines().filter((line) => line === `sleep ${marker}`), { timeout: 5_000 })
        .toEqual([])
      expect(server.violations).toEqual([])
    } finally {
      await server.close()
    }
  },
  60_000 + CHILDREN * 10_000,
)

function configFor(server: ModelServer): string {
  return JSON.stringify({
    model: { default: 'm', base_url: server.baseUrl },
    // A stalled endpoint is tried for longer than a child may go without progress.
    agent: { api_max_retries: 4 },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  })
}

/** Runs the agent until it has heard of everything, or until it is killed. */
async function runFor(ms: number | null, world: { readonly home: string; readonly cwd: string }): Promise<void> {
  const loader = join(import.meta.dirname, '../../../testkit/src/__fixtures__/load-sources.mjs')
  const script = join(import.meta.dirname, '../__fixtures__/delegating-agent.mjs')
  const options = JSON.stringify({ ...world, path: process.env['PATH'] })
  const agent: ChildProcess = spawn(
    process.execPath,
    ['--conditions=@hermes/source', `--import=${loader}`, script, options],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const closed = once(agent, 'close')
  if (ms !== null) {
    await Promise.race([closed, sleep(ms)])
    agent.kill('SIGKILL')
  }
  const [exitCode] = await closed
  if (ms === null) expect(exitCode).toBe(0)
}

/** Three tasks a call, every fourth call waited for, as many as it is allowed by now; then until all were heard of. */
function parentTurn({ body }: CapturedRequest, allowed: number): ModelStep {
  const texts = body.messages.slice(1).map(textOf)
  const results = body.messages.filter(({ role }) => role === 'tool').map(textOf)
  const calls = results.filter((text) => !text.includes('are under way')).length
  const last = body.messages.at(-1)!
  const isFull = last.role === 'tool' && textOf(last).includes('are under way')
  if (!isFull && calls * TASKS_PER_CALL < allowed) {
    const tasks = Array.from({ length: TASKS_PER_CALL }, (_, index) => taskOf(calls * TASKS_PER_CALL + index))
    const schema = calls % 2 === 1 ? {} : { output_schema: { type: 'object', required: ['n'] } }
    return { toolCalls: [{ name: 'delegate_task', args: { tasks, background: calls % 4 !== 3, ...schema } }] }
  }
  const started = texts.flatMap((text) => STARTED.exec(text)?.[1]?.split(', ') ?? [])
  const heard = new Set(texts.flatMap((text) => [...text.matchAll(RESULT)].map((match) => match[1])))
  const isOver = started.every((handle) => heard.has(handle)) && allowed === CHILDREN
  return { text: isOver ? 'All heard.' : 'Waiting.' }
}

const KINDS = ['read', 'stall', 'nonsense', 'kill', 'fail', 'quick'] as const

function taskOf(index: number): { readonly goal: string } {
  return { goal: `${KINDS[index % KINDS.length]} ${index}` }
}

function childTurn({ body }: CapturedRequest, marker: string): ModelStep {
  const [, kind] = /Your task:\\?n?\s*(\w+) \d+/.exec(body.messages.map(textOf).join('\n')) ?? []
  const isAfterTool = body.messages.at(-1)!.role === 'tool'
  switch (kind) {
    case 'stall':
      return { fault: 'stall', text: 'I begin' }
    case 'nonsense':
      return { text: 'garbage' }
    case 'fail':
      return { fault: 'status', status: 400 }
    case 'kill':
      return { toolCalls: [{ name: 'terminal', args: { command: `sleep ${marker}`, timeout: 600 } }] }
    case 'read':
      if (!isAfterTool) return { toolCalls: [{ name: 'terminal', args: { command: 'cat large.txt' } }] }
      return { text: '{"n": 1}' }
    default:
      return { text: '{"n": 2}' }
  }
}

async function expectOneResultEach(storage: Storage): Promise<void> {
  const entries = await storage.log.entries('parent')
  const messages = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : [],
  )
  const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
  expect(answered.toSorted()).toEqual(calls.toSorted())
  const texts = messages.map((message) =>
    message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
  )
  const started = texts.flatMap((text) => STARTED.exec(text)?.[1]?.split(', ') ?? [])
  const heard = texts.flatMap((text) => [...text.matchAll(RESULT)].map((match) => match[1]!))
  expect(new Set(heard).size).toBe(heard.length)
  expect(heard).toEqual(expect.arrayContaining(started))
  expect(await storage.inbox.waiting('parent')).toEqual([])
  const all = texts.join('\n')
  for (const sign of [/completed \(/, /The user ended it\./, /It made no progress for/, /failed \(/, /It is not JSON/])
    expect(all).toMatch(sign)
  const children = await storage.sessions.descendants('parent')
  expect(new Set(children.map(({ source }) => source))).toEqual(new Set(['subagent']))
  expect(messages.findLast(({ role }) => role === 'assistant')).toSatisfy(
    (message: Parameters<typeof messageText>[0]) => messageText(message) === 'All heard.',
  )
}
