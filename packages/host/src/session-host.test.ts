import type { Runtime } from '@hermes/runtime'
import { createFakeClock, type ModelServer } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openHome } from './__fixtures__/open-home.js'
import {
  createSessionHost,
  type EventReader,
  type OpenRequest,
  type SessionHandle,
  type SessionHost,
  type SessionHostOptions,
  type Turn,
  unattendedMode,
} from './index.js'
import { type ModelStep, testSessionHost } from './testing/index.js'

const CONFIG = `auxiliary: {session_summary: {enabled: false}, title_generation: {enabled: false}}
terminal: {isolation: "off"}
memory: {flush_min_turns: 0}
`

interface Stage {
  readonly server: ModelServer
  readonly runtime: Runtime
  readonly host: SessionHost
  open(request?: Partial<OpenRequest>): SessionHandle
}

async function stage(options: Partial<SessionHostOptions> = {}): Promise<Stage> {
  const { server, runtime, host } = await openHome({ 'config.yaml': CONFIG }, options)
  const model = { baseUrl: server.baseUrl, model: 'm' }
  const open: Stage['open'] = (request = {}) =>
    host.open({ ...model, platform: 'cli', permissions: 'deny', ...request })
  return { server, runtime, host, open }
}

/** Answers with what was said last. */
function echo(server: ModelServer): void {
  server.setHandler(({ body }) => ({ text: `you said ${JSON.stringify(body.messages.at(-1)?.content)}` }))
}

const WHICH = { toolCalls: [{ name: 'clarify', args: { question: 'Which?', choices: ['red', 'blue'] } }] }
const DANGEROUS = { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }

function step(turn: ModelStep) {
  if (turn.type === 'words') return { text: turn.text, chunkSize: 2 }
  return turn.type === 'danger' ? DANGEROUS : { text: 'a lot of words', chunkSize: 1, fault: 'stall' as const }
}

testSessionHost({
  create: async () => {
    const { server, host } = await stage()
    return {
      host,
      request: { baseUrl: server.baseUrl, model: 'm' },
      model: (turns) => (turns === 'echo' ? echo(server) : server.enqueue(...turns.map(step))),
      newestRequest: () => JSON.stringify(server.requests.at(-1)?.body.messages),
      requests: (count) => server.waitForRequests(count),
      close: async () => expect(server.violations).toEqual([]),
    }
  },
})

describe('a session of a host', () => {
  it('ends for who iterates it after all its events were forgotten', async () => {
    const { server, open } = await stage()
    server.enqueue({ text: 'Long over.' }, { text: 'x'.repeat(1_500_000), chunkSize: 100_000 })
    const session = open()
    const turn = session.send('begin')
    await turn.result
    await open().send('a lot').result
    const seen: unknown[] = []
    for await (const event of turn) seen.push(event)
    expect(seen).toMatchObject([{ type: 'notice' }, { type: 'run-end', result: { text: 'Long over.' } }])
  })

  it('is not deleted for its age while it is open here and not used yet', async () => {
    const { runtime, open } = await stage()
    const { sessions, maintenance } = await runtime.storage()
    const stored = await sessions.create({ id: 'old', source: 'cli', startedAtMs: 1_000 })
    await sessions.end('old', { reason: 'done' })
    const session = open({ session: stored })
    await session.agent()
    expect(await maintenance.prune({ olderThanMs: 1 })).toBe(0)
    await session.end('left')
    expect(await maintenance.prune({ olderThanMs: 1 })).toBe(1)
    await expect(open({ session: stored }).agent()).rejects.toMatchObject({ code: 'store.unknown_session' })
  })

  it('stops an input whose agent is still being made', async () => {
    const { server, open } = await stage()
    echo(server)
    const session = open()
    const turn = session.send('never said to a model')
    session.interrupt()
    expect((await turn.result).status).toBe('interrupted')
    expect(server.requests).toEqual([])
    expect((await session.send('now').result).status).toBe('completed')
  })

  it('keeps what nobody answers now, tells readers of it, and goes by the answer when it is tried again', async () => {
    for (const permissions of ['deny', 'park'] as const) {
      const { server, host, open } = await stage()
      server.enqueue(DANGEROUS, ...(permissions === 'deny' ? [{ text: 'So not.' }, DANGEROUS] : []), { text: 'Done.' })
      const session = open({ permissions })
      const reader = await host.subscribe()
      const { status, pending } = await session.send('clean up').result
      expect(status).toBe(permissions === 'deny' ? 'completed' : 'parked')
      const [kept] = await host.approvals()
      if (permissions === 'park') expect(pending).toEqual([kept!.id])
      for await (const { event } of reader) if (event.type === 'approval-kept' && event.id === kept!.id) break
      expect(await open().answer(kept!.id, 'once')).toBe(false)
      expect(await session.answer(kept!.id, 'once', 'ada')).toBe(true)
      expect(await session.answer(kept!.id, 'deny')).toBe(false)
      const again = permissions === 'deny' ? 'try again' : ({ resume: true } as const)
      expect(await session.send(again).result).toMatchObject({ status: 'completed', text: 'Done.' })
      expect(JSON.stringify(server.requests.at(-1)?.body.messages.at(-1))).not.toContain('Not permitted')
      expect(await host.approvals()).toEqual([])
    }
  })

  it('refuses at once what is asked after all have left, also where everything was approved', async () => {
    for (const permissions of ['ask', 'approve'] as const) {
      const { server, open } = await stage()
      server.enqueue(DANGEROUS, { text: 'So not.' })
      const session = open({ permissions })
      const turn = session.send('clean up')
      session.close()
      expect(await turn.result).toMatchObject({ status: 'completed', text: 'So not.' })
      expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('Nobody can approve it here')
    }
  })

  it('goes by the opening of whoever sends, whoever else has it open, comes and leaves', async () => {
    const { server, open } = await stage()
    const sessionId = 'shared'
    const deliverTo = { platform: 'telegram', target: '-5' }
    const owner = () => open({ sessionId, permissions: 'approve' })
    const newest = () => JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
    let count = 0
    const isApproved = async (session: SessionHandle) => {
      const call = { name: 'terminal', args: { command: `rm -rf build${++count}` } }
      server.enqueue({ toolCalls: [call] }, { text: 'Done.' })
      await session.send('clean up').result
      return !newest().includes('Nobody can approve it here')
    }
    const first = owner()
    expect(await isApproved(first)).toBe(true)
    const group = open({ sessionId, permissions: 'deny', withoutToolsets: ['todo'], deliverTo })
    expect(await isApproved(group)).toBe(false)
    const second = owner()
    expect(await isApproved(group)).toBe(false)
    expect(await isApproved(first)).toBe(true)
    expect(await isApproved(second)).toBe(true)
    first.close()
    second.close()
    expect(await isApproved(group)).toBe(false)
    server.enqueue(
      { toolCalls: [{ name: 'todo_write', args: { todos: [{ id: '1', content: 'x', status: 'pending' }] } }] },
      { text: 'So not.' },
    )
    await group.send('note it').result
    expect(newest()).toMatch(/todo_write/)
    // Who comes while it runs for others has nothing approved for them, and neither has who stays when they leave.
    const during: SessionHandle[] = []
    const leaving = open({ sessionId, permissions: 'deny', deliverTo })
    server.setHandler(({ body }) => {
      if (body.messages.at(-1)!.role === 'tool') return { text: 'Done.' }
      during.push(owner())
      leaving.close()
      group.close()
      return DANGEROUS
    })
    await group.send('clean up').result
    expect([during.length, newest()]).toEqual([1, expect.stringContaining('Nobody can approve it here')])
  })

  it('lets a reader answer what the model asks', async () => {
    const { server, open } = await stage()
    server.enqueue(
      { toolCalls: [{ name: 'clarify', args: { question: 'Which?', choices: ['red', 'blue'] } }] },
      { text: 'Fine.' },
    )
    const session = open({ permissions: 'ask', answersQuestions: 'now' })
    const reader = await session.subscribe()
    const turn = session.send('choose')
    for await (const { event } of reader) {
      if (event.type !== 'question-open') continue
      const answer = { type: 'answered', text: 'blue' } as const
      expect(await session.answer(event.id, answer)).toBe(true)
      expect(await session.answer(event.id, answer)).toBe(false)
      break
    }
    expect((await turn.result).status).toBe('completed')
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('blue')
  })

  it('parks what the model asks where the answer is what the person says next, a number or own words', async () => {
    const { server, host, open } = await stage()
    for (const [reply, answer] of [
      ['2', 'blue'],
      ['Green, please.', 'Green, please.'],
    ] as const) {
      const session = open({ answersQuestions: 'later' })
      const reader = await host.subscribe()
      server.enqueue(WHICH, { text: 'Fine.' })
      const { status, pending } = await session.send('choose').result
      expect(status).toBe('parked')
      for await (const { event } of reader) if (event.type === 'question-kept' && event.id === pending![0]) break
      // Not answered yet: it is the same question.
      expect(await session.send({ resume: true }).result).toMatchObject({ status: 'parked', pending })
      expect(await open().answer(pending![0]!, { type: 'answered', text: 'no' })).toBe(false)
      expect(await session.send(reply).result).toMatchObject({ status: 'completed', text: 'Fine.' })
      expect(server.requests.at(-1)?.body.messages.at(-1)).toMatchObject({ content: `The user answered: ${answer}` })
      echo(server)
      expect((await session.send(reply).result).text).toContain(reply)
      server.setHandler(null)
    }
    expect(server.violations).toEqual([])
  })

  it('hears an answer that another process of the home gave while a reader is asked', async () => {
    const { server, runtime, open } = await stage()
    server.enqueue(WHICH, { text: 'Fine.' })
    const session = open({ permissions: 'ask', answersQuestions: 'now' })
    const reader = await session.subscribe()
    const turn = session.send('choose')
    for await (const { event } of reader) {
      if (event.type !== 'question-open') continue
      const { questions } = await runtime.storage()
      const kept = (await questions.get(event.id))!
      expect(await questions.put({ ...kept, status: 'answered', answer: 'red', by: 'elsewhere' })).toBe(true)
      expect(await session.answer(event.id, { type: 'answered', text: 'blue' })).toBe(false)
      break
    }
    expect((await turn.result).status).toBe('completed')
    expect(server.requests.at(-1)?.body.messages.at(-1)).toMatchObject({ content: 'The user answered: red' })
    expect(await (await runtime.storage()).questions.pending()).toEqual([])
  })
})

const DELEGATES = { toolCalls: [{ name: 'delegate_task', args: { goal: 'Count.', background: true } }] }

/** A model that delegates when it is told to begin and, where it goes on, with each result; tasks end once they are let go. */
function delegating(server: ModelServer, { goesOn = false } = {}) {
  const held = Promise.withResolvers<void>()
  let count = 0
  server.setHandler(async ({ body }) => {
    const newest = body.messages.at(-1)!
    const text = JSON.stringify(newest.content)
    if (JSON.stringify(body.messages[0]).includes('You were started by another agent')) {
      await held.promise
      return { text: 'Three apples.' }
    }
    const isResult = newest.role === 'user' && text.includes('Three apples')
    if (isResult) count++
    return text.includes('begin') || (isResult && goesOn) ? DELEGATES : { text: 'Fine.' }
  })
  return { letGo: held.resolve, delivered: () => count }
}

async function tasksEnd(reader: EventReader, count: number): Promise<void> {
  for await (const { event } of reader) if (event.type === 'background-end' && --count === 0) break
}

describe('a background result', () => {
  it('wakes an idle session, so many times in a row, and again once somebody said something', async () => {
    const { server, runtime, open } = await stage()
    const { letGo, delivered } = delegating(server, { goesOn: true })
    const turns: Turn[] = []
    const session = open({ onWakeUp: (turn) => void turns.push(turn) })
    const reader = await session.subscribe()
    await session.send('begin').result
    expect(turns).toEqual([])
    letGo()
    await tasksEnd(reader, 6)
    const results = await Promise.all(turns.map(({ result }) => result))
    expect(results.map(({ status, text }) => [status, text])).toEqual(turns.map(() => ['completed', 'Fine.']))
    const { inbox } = await runtime.storage()
    expect([delivered(), turns.length, (await inbox.waiting(session.id)).length]).toEqual([5, 5, 1])
    const types: string[] = []
    for await (const { type } of turns[4]!) types.push(type)
    expect([types[0], types.at(-1)]).toEqual(['run-start', 'run-end'])
    const again = await session.subscribe()
    await session.send('and now?').result
    await tasksEnd(again, 6)
    expect([delivered(), server.violations]).toEqual([11, []])
  })

  it('waits for the next message after a stop by a person, and where all have left', async () => {
    for (const leave of [
      async (session: SessionHandle) => {
        const turn = session.send('stall')
        session.interrupt()
        await turn.result
      },
      async (session: SessionHandle) => session.close(),
    ]) {
      const { server, runtime, host, open } = await stage()
      const { letGo, delivered } = delegating(server)
      const session = open()
      const reader = await host.subscribe()
      await session.send('begin').result
      await leave(session)
      letGo()
      await tasksEnd(reader, 1)
      const { inbox } = await runtime.storage()
      expect([delivered(), (await inbox.waiting(session.id)).length, session.isAtWork]).toEqual([0, 1, false])
      await open({ sessionId: session.id }).send('and now?').result
      expect([delivered(), (await inbox.waiting(session.id)).length]).toEqual([1, 0])
    }
  })

  it('wakes a session that nobody has open where agents come and go with use', async () => {
    const { server, host, open } = await stage({ idleMs: 1_000_000 })
    const { letGo, delivered } = delegating(server)
    const session = open()
    const reader = await host.subscribe()
    await session.send('begin').result
    session.close()
    letGo()
    const seen: string[] = []
    for await (const { event } of reader) {
      if (['background-end', 'run-end'].includes(event.type)) seen.push(event.type)
      if (seen.length === 3) break
    }
    expect([seen, delivered()]).toEqual([['run-end', 'background-end', 'run-end'], 1])
  })
})

it('where nobody answers, the setting for its platform decides', () => {
  const settings = { single_query_mode: 'approve', cron_mode: 'deny', unattended_mode: 'park' } as const
  const approvals = settings as Parameters<typeof unattendedMode>[1]
  const modes = ['oneshot', 'cron', 'gateway', 'telegram'].map((platform) => unattendedMode(platform, approvals))
  expect(modes).toEqual(['approve', 'deny', 'park', 'park'])
})

describe('the agents of a host', () => {
  it('are closed when nobody used them for the time, and made again by the next input, which knows what was said', async () => {
    const clock = createFakeClock(0)
    const { server, host, open } = await stage({ idleMs: 1_000, clock })
    echo(server)
    const session = open()
    await session.send('remember seven').result
    await clock.advance(999)
    await host.closeIdle()
    expect(session.ready).not.toBeNull()
    await clock.advance(1)
    await host.closeIdle()
    expect(session.ready).toBeNull()
    await session.send('and now').result
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('remember seven')
  })

  it('are as many as allowed: those used longest ago go first, and none that is at work', async () => {
    const clock = createFakeClock(0)
    const { server, host, open } = await stage({ idleMs: 1_000_000, maxAgents: 2, clock })
    server.enqueue({ text: 'words', chunkSize: 1, fault: 'stall' })
    const stalled = open()
    const turn = stalled.send('wait')
    await server.waitForRequests(1)
    echo(server)
    const others = [open(), open(), open()]
    for (const other of others) await other.send('hello').result
    await host.closeIdle()
    expect([stalled, ...others].map(({ ready }) => ready !== null)).toEqual([true, false, false, true])
    const { letGo } = delegating(server)
    const delegated = open()
    await delegated.send('begin').result
    await others[2]!.send('hello').result
    // Whoever asks it whether it goes on by itself is waited for.
    const closed = async () => {
      await host.closeIdle()
      return [stalled, delegated, others[2]!].map(({ ready }) => ready !== null)
    }
    await expect.poll(closed).toEqual([true, true, false])
    letGo()
    stalled.interrupt()
    expect((await turn.result).status).toBe('interrupted')
  })

  it('are looked after each minute, also while one of them does not close, and keep no process from ending', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
    const clock = createFakeClock(0)
    const { server, runtime } = await stage()
    echo(server)
    const before = timers()
    const real = createSessionHost({ runtime, idleMs: 1_000 })
    expect(timers()).toBe(before)
    await real.close()
    const held = Promise.withResolvers<void>()
    let made = 0
    const createAgent: Runtime['createAgent'] = async (request) => {
      const ready = await runtime.createAgent(request)
      if (++made > 1) return ready
      const close = (reason?: string) => held.promise.then(() => ready.close(reason))
      return { ...ready, close }
    }
    const host = createSessionHost({ runtime: { ...runtime, createAgent }, idleMs: 1_000, clock })
    const request = { baseUrl: server.baseUrl, model: 'm', platform: 'cli', permissions: 'deny' } as const
    const [stuck, other] = [host.open(request), host.open(request)]
    for (const session of [stuck, other]) {
      await session.send('hello').result
      const later = async () => {
        await clock.advance(60_000)
        return session.ready
      }
      await expect.poll(later).toBeNull()
    }
    held.resolve()
    await host.close()
  })

  it('are fewer of those that have called a tool', async () => {
    const { server, host, open } = await stage({
      ...{ idleMs: 1_000_000, maxAgents: 3, maxAgentsWithTools: 1 },
      clock: createFakeClock(0),
    })
    const sessions = [open(), open(), open()]
    for (const [index, session] of sessions.entries()) {
      if (index > 0) server.enqueue({ toolCalls: [{ name: 'read_file', args: { path: 'none' } }] })
      server.enqueue({ text: 'Done.' })
      await session.send('look').result
    }
    await host.closeIdle()
    expect(sessions.map(({ ready }) => ready !== null)).toEqual([true, false, true])
  })

  it('are as many as their conversations have room in memory: the one used longest ago goes first', async () => {
    const { server, host, open } = await stage({ idleMs: 1_000_000, maxChars: 30_000, clock: createFakeClock(0) })
    echo(server)
    const sessions = [open(), open(), open()]
    for (const session of sessions) await session.send('hello').result
    await host.closeIdle()
    expect(sessions.map(({ ready }) => ready !== null)).toEqual([true, true, true])
    await sessions[1]!.send('x'.repeat(25_000)).result
    await host.closeIdle()
    expect(sessions.map(({ ready }) => ready !== null)).toEqual([false, true, false])
    await sessions[0]!.send('hello').result
    expect(JSON.stringify(server.requests.at(-1)?.body.messages).match(/hello/g)).toHaveLength(3)
  })

  it('stay where a larger one that has to go makes room enough', async () => {
    const { server, open } = await stage({ idleMs: 1_000_000, maxChars: 60_000, clock: createFakeClock(0) })
    echo(server)
    const [small, large, newest] = [open(), open(), open()]
    await small.send('hello').result
    await large.send('x'.repeat(25_000)).result
    await expect.poll(() => [small, large].some(({ isAtWork, isResting }) => isAtWork || isResting)).toBe(false)
    await newest.send('x'.repeat(5_000)).result
    await expect.poll(() => large.ready).toBeNull()
    expect([small.ready, newest.ready]).not.toContain(null)
  })
})

it('loses no input and runs none twice, in whatever order sessions are opened, used, read, interrupted and left', async () => {
  const { server, runtime, host, open } = await stage()
  echo(server)
  const step = fc.record({
    do: fc.constantFrom('open', 'send', 'send', 'steer', 'subscribe', 'interrupt', 'end', 'close', 'rest'),
    session: fc.nat(1),
  })
  let round = 0
  const { log, sessions } = await runtime.storage()
  /** Which inputs are in the logs: each that was answered once, each that was stopped or refused once at most, and none that was never said. */
  const expectHeardOnce = async (ended: readonly string[], of: number) => {
    const heard = new Map<number, number>()
    for (const id of [`one-${of}`, `two-${of}`]) {
      if (!(await sessions.get(id))) continue
      const text = JSON.stringify(
        (await log.entries(id)).filter((entry) => entry.type === 'message' && entry.message.role === 'user'),
      )
      for (const [, input] of text.matchAll(new RegExp(`input ${of}\\.(\\d+);`, 'g')))
        heard.set(Number(input), (heard.get(Number(input)) ?? 0) + 1)
    }
    for (const [input, status] of ended.entries()) {
      const times = heard.get(input) ?? 0
      expect([status, times]).toEqual([
        status,
        status === 'completed' ? 1 : status === 'interrupted' ? Math.min(times, 1) : 0,
      ])
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const ids = [`one-${++round}`, `two-${round}`]
      const results: Promise<string>[] = []
      const others: SessionHandle[] = []
      const handles = ids.map((sessionId) => open({ sessionId }))
      for (const { do: what, session: at } of steps) {
        const session = handles[at]!
        switch (what) {
          case 'send':
            results.push(
              session.send(`input ${round}.${results.length};`).result.then(
                ({ status }) => status,
                (error) => error.code,
              ),
            )
            break
          case 'steer':
            await session.steer('a note')
            break
          case 'subscribe':
            await session.subscribe()
            break
          case 'interrupt':
            session.interrupt()
            break
          case 'end':
            await session.end('test')
            break
          case 'open':
            others.push(session)
            handles[at] = open({ sessionId: ids[at]! })
            break
          case 'rest':
            await Promise.all(results)
            break
          default:
            session.close()
            handles[at] = open({ sessionId: ids[at]! })
        }
      }
      const ended = await Promise.all(results)
      for (const status of ended) expect(['completed', 'interrupted', 'host.session_full']).toContain(status)
      for (const handle of handles) {
        expect(handle.isAtWork).toBe(false)
        await handle.end('test')
      }
      expect(host.isBusy(ids[0]!)).toBe(false)
      for (const other of others) other.close()
      await expectHeardOnce(ended, round)
    }),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 15) },
  )
  expect(server.violations).toEqual([])
}, 60_000)
