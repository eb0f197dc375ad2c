import { HermesError } from '@hermes/contracts'
import type { CompactOutcome, CompactRequest, ContextEngine } from '@hermes/contracts/context'
import { noUsage } from '@hermes/contracts/conversation'
import type { Extension } from '@hermes/contracts/extension'
import type { ModelClient } from '@hermes/contracts/model'
import { defineTool } from '@hermes/contracts/tool'
import { finish, type ScriptedStep, scriptedModel } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { todoReminder } from '../extensions/todo-reminder/extension.js'
import { type AgentEvent, createAgent, createMemoryStore } from '../index.js'
import { contextTokens } from './context-window.js'

const refused = (code: string) => () => {
  throw new HermesError('The prompt is too long.', { code })
}
const tooLong = refused('transport.context_overflow')
const look = defineTool({
  name: 'look',
  toolset: 'test',
  description: 'Looks.',
  effect: 'read',
  parameters: { type: 'object', properties: {} },
  execute: (_, { state }) => `looked after ${state.compactions()} compactions`,
})

/** An engine that takes out everything but the newest message, when it is told to. By its own count that gains much, or nothing. */
function engine(
  isDue: (tokens: number) => boolean,
  { problem, gains = true }: { readonly problem?: string; readonly gains?: boolean } = {},
): ContextEngine & { readonly requested: CompactRequest[] } {
  const requested: CompactRequest[] = []
  return {
    requested,
    isDue: ({ tokens }) => isDue(tokens),
    plan: ({ tokens }) => ({ messages: 1, tokensBefore: tokens, tokensAfter: 10 }),
    compact: async (request): Promise<CompactOutcome> => {
      requested.push(request)
      const talk = request.entries.filter((entry) => entry.type === 'message')
      const upToSeq = talk.at(-2)?.seq
      if (upToSeq === undefined) return { type: 'unchanged', reason: 'Nothing to take out.' }
      return {
        type: 'compacted',
        entry: { type: 'compaction', upToSeq, summary: 'what was', tokensBefore: 100, tokensAfter: gains ? 10 : 95 },
        isSummarized: problem === undefined,
        ...(problem === undefined ? {} : { problem }),
        usage: { ...noUsage, outputTokens: 5 },
      }
    },
  }
}

function setUp(turns: readonly ScriptedStep[], contextEngine: ContextEngine, maxSteps = 90) {
  const model = scriptedModel(turns)
  const store = createMemoryStore()
  return {
    model,
    store,
    agent: createAgent({
      model,
      tools: [look],
      contextEngine,
      session: { store },
      steps: { max: maxSteps },
      extensions: [],
    }),
  }
}
async function collect(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of run) events.push(event)
  return events
}
const sent = (model: ReturnType<typeof scriptedModel>, index: number) =>
  model.requests[index]!.messages.slice(1).map(({ content }) =>
    content.map((part) => ('text' in part ? part.text : '')).join(''),
  )

describe('a session that grows', () => {
  it('is compacted before the last request without tools too', async () => {
    let due = false
    const context = engine(() => due)
    const call = async function* () {
      due = true
      yield finish('', [['a', 'look', {}]])
    }
    const { agent, model } = setUp([call, { text: 'Half done.' }], context, 1)
    expect(await agent.run('go').result).toMatchObject({ error: { code: 'agent.step_limit' }, text: 'Half done.' })
    expect(model.requests[1]).toMatchObject({ toolChoice: 'none' })
    expect(context.requested).toMatchObject([{ cause: 'threshold' }])
  })

  it('is compacted before the request that would be too much, also between tool calls, and says so', async () => {
    let due = false
    const context = engine(() => due)
    const { agent, model } = setUp(
      [
        { calls: [['a', 'look', {}]] },
        async function* () {
          due = true
          yield finish('One.')
        },
        { text: 'Two.' },
      ],
      context,
    )
    await agent.run('first').result
    const run = agent.run('second')
    const events = await collect(run)
    expect(await run.result).toMatchObject({ status: 'completed', text: 'Two.', usage: { outputTokens: 10 } })
    expect(context.requested).toHaveLength(1)
    expect(context.requested[0]).toMatchObject({ cause: 'threshold', provider: 'scripted', model: 'test-model' })
    expect(sent(model, 2)).toEqual([expect.stringContaining('what was'), 'second'])
    const compactions = events.filter(({ type }) => type.startsWith('compaction'))
    expect(compactions).toMatchObject([
      { type: 'compaction-start' },
      { type: 'compaction-end', summaryChars: 8, seq: expect.any(Number) },
    ])
  })

  it.each(['transport.context_overflow', 'transport.long_context_tier', 'transport.payload_too_large'])(
    'is compacted when the provider finds it too long (%s), and asked again',
    async (code) => {
      const context = engine(() => false)
      const { agent, model } = setUp([{ text: 'One.' }, refused(code), { text: 'Two.' }], context)
      await agent.run('first').result
      expect(await agent.run('second').result).toMatchObject({ status: 'completed', text: 'Two.' })
      expect(context.requested).toMatchObject([{ cause: 'overflow' }])
      expect(sent(model, 2)).toEqual([expect.stringContaining('what was'), 'second'])
    },
  )

  it('is compacted as often as that makes room, however long the request takes', async () => {
    const context = engine(() => true)
    const calls = Array.from({ length: 60 }, (_, at) => ({ calls: [[`c${at}`, 'look', {}]] as const }))
    const { agent } = setUp([...calls, { text: 'Done.' }], context)
    expect(await agent.run('go').result).toMatchObject({ status: 'completed' })
    expect(new Set(context.requested.map(({ cause }) => cause))).toEqual(new Set(['threshold']))
    expect(context.requested.length).toBeGreaterThan(59)
  })

  it('is compacted again once something made room after two that gained little', async () => {
    const sizes = [95, 95, 95, 10, 95, 95, 95]
    const context = engine(() => true)
    const requested: string[] = []
    const changing: ContextEngine = {
      ...context,
      compact: async (request, options) => {
        const outcome = await context.compact(request, options)
        if (outcome.type !== 'compacted') return outcome
        requested.push(request.cause)
        return { ...outcome, entry: { ...outcome.entry, tokensAfter: sizes[requested.length - 1]! } }
      },
    }
    const calls = Array.from({ length: 7 }, (_, at) => ({ calls: [[`c${at}`, 'look', {}]] as const }))
    const { agent } = setUp([...calls, { text: 'Done.' }], changing)
    await agent.run('go').result
    expect(requested).toEqual(['threshold', 'threshold', 'truncate', 'truncate', 'threshold', 'threshold', 'truncate'])
  })

  it('is cut without a model after two summaries that were no shorter than what they stand for', async () => {
    const requested: string[] = []
    const vain: ContextEngine = {
      ...engine(() => true),
      compact: async ({ cause }) => {
        requested.push(cause)
        return { type: 'unchanged', reason: 'no shorter', ...(cause === 'truncate' ? {} : { usage: noUsage }) }
      },
    }
    const calls = ['a', 'b', 'c'].map((id) => ({ calls: [[id, 'look', {}]] as const }))
    const { agent } = setUp([...calls, { text: 'Done.' }], vain)
    await agent.run('go').result
    expect(requested).toEqual(['threshold', 'threshold', 'truncate', 'truncate'])
  })

  it('is compacted twice for one refused request at most, whatever that gains', async () => {
    const context = engine(() => false)
    const { agent } = setUp([{ text: 'One.' }, tooLong, tooLong, tooLong, tooLong], context)
    await agent.run('first').result
    expect((await agent.run('second').result).error).toMatchObject({ code: 'agent.context_full' })
    expect(context.requested.map(({ cause }) => cause)).toEqual(['overflow', 'overflow', 'truncate'])
  })

  it('is compacted twice when that gains little, then cut without a model, and at last the run ends with one clear line', async () => {
    const context = engine(() => true, { gains: false })
    const calls = ['a', 'b', 'c', 'd'].map((id) => ({ calls: [[id, 'look', {}]] as const }))
    const { agent } = setUp([...calls, tooLong, tooLong], context)
    const { status, error } = await agent.run('go').result
    // The first one finds nothing to take out yet.
    expect(context.requested.map(({ cause }) => cause)).toEqual([
      ...['threshold', 'threshold', 'threshold'],
      ...['truncate', 'truncate', 'truncate'],
    ])
    expect(status).toBe('failed')
    expect(error).toMatchObject({ code: 'agent.context_full', message: expect.stringContaining('larger window') })
    const truncated = agent.entries().filter((entry) => entry.type === 'compaction' && entry.isTruncation)
    expect(truncated).toHaveLength(3)
  })

  it('names what a new session would begin with too, where that is most of it', async () => {
    const model = scriptedModel([tooLong, tooLong])
    const agent = createAgent({
      model,
      tools: [look],
      system: 'word '.repeat(2_000),
      contextEngine: engine(() => false),
    })
    expect((await agent.run('go').result).error).toMatchObject({
      code: 'agent.context_full',
      message: expect.stringMatching(/System text and tools alone take about 25\d\d tokens: use fewer toolsets/),
    })
  })

  it('tells the person once per run when compacting has become pointless', async () => {
    const context: ContextEngine = { ...engine(() => false), isDue: () => 'in vain' }
    const calls = ['a', 'b'].map((id) => ({ calls: [[id, 'look', {}]] as const }))
    const { agent } = setUp([...calls, { text: 'One.' }, { text: 'Two.' }], context)
    for (const words of [`first ${'word '.repeat(400)}`, 'second']) {
      const notices = (await collect(agent.run(words))).filter(({ type }) => type === 'notice')
      expect(notices).toMatchObject([{ text: expect.stringContaining('/compress TOPIC') }])
    }
  })

  it('tells the person when the tools alone are too much for the window', async () => {
    const context: ContextEngine = { ...engine(() => false), isDue: () => 'in vain' }
    const { agent } = setUp([{ text: 'One.' }], context)
    const notices = (await collect(agent.run('go'))).filter(({ type }) => type === 'notice')
    expect(notices).toMatchObject([
      { text: expect.stringMatching(/^System text and tools alone take .* [Ff]ewer toolsets/) },
    ])
  })

  it('asks for summaries again once the user says something', async () => {
    const context = engine(() => true, { gains: false })
    const calls = ['a', 'b', 'c'].map((id) => ({ calls: [[id, 'look', {}]] as const }))
    const { agent } = setUp([...calls, { text: 'One.' }, { text: 'Two.' }], context)
    await agent.run('go').result
    await agent.run('more').result
    expect(context.requested.map(({ cause }) => cause)).toEqual([
      ...['threshold', 'threshold', 'threshold'],
      ...['truncate', 'threshold'],
    ])
  })

  it('warns when earlier messages went without a summary', async () => {
    const context = engine(() => true, { problem: 'the model is down' })
    const { agent } = setUp([{ text: 'One.' }, { text: 'Two.' }], context)
    await agent.run('first').result
    const events = await collect(agent.run('second'))
    expect(events.find(({ type }) => type === 'notice')).toMatchObject({
      level: 'warning',
      text: expect.stringContaining('the model is down'),
    })
  })

  it('stays as it is while a handler would rather have it so, until no request fits any more', async () => {
    const context = engine(() => true)
    const model = scriptedModel([
      { text: 'One.' },
      { calls: [['a', 'look', {}]] },
      { text: 'Two.' },
      tooLong,
      { text: 'Three.' },
    ])
    const keeps: Extension = {
      name: 'keeps',
      setup: ({ hooks }) => void hooks.on('compaction', () => ({ type: 'skip', reason: 'The numbers matter.' })),
    }
    const agent = createAgent({ model, tools: [look], contextEngine: context, extensions: [keeps] })
    await agent.run('first').result
    const events = await collect(agent.run('second'))
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
    expect(notices).toEqual(['The conversation was not compacted: The numbers matter.'])
    expect(await agent.compact()).toMatchObject({ type: 'unchanged', reason: 'The numbers matter.' })
    expect(context.requested).toEqual([])
    expect(await agent.run('third').result).toMatchObject({ status: 'completed', text: 'Three.' })
    expect(context.requested).toMatchObject([{ cause: 'overflow' }])
  })

  it('ends with the error of the provider where nothing compacts it', async () => {
    const agent = createAgent({ model: scriptedModel([tooLong]) })
    expect((await agent.run('go').result).error).toMatchObject({ code: 'transport.context_overflow' })
  })
})

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 60)

it('never asks for more than two summaries that gain little between two messages of the user, whatever is due and whatever is refused', async () => {
  const step = fc.constantFrom('call', 'due', 'refused', 'due and refused')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 12 }), { minLength: 1, maxLength: 4 }), async (runs) => {
      let isDue = false
      const context = engine(() => isDue, { gains: false })
      let left: string[] = []
      let refused: string | null = null
      const model: ModelClient = {
        provider: 'scripted',
        model: 'test-model',
        async *stream() {
          const next = left[0]
          isDue = left[1]?.includes('due') ?? false
          if (next?.includes('refused') && refused !== next + left.length) {
            refused = next + left.length
            tooLong()
          }
          left.shift()
          yield finish('ok', next === undefined ? [] : [[`c${left.length}`, 'look', {}]])
        },
      }
      const agent = createAgent({
        model,
        tools: [look],
        contextEngine: context,
        session: { store: createMemoryStore() },
      })
      for (const steps of runs) {
        left = [...steps]
        await agent.run('go').result
      }
      let summaries = 0
      for (const entry of agent.entries()) {
        if (entry.type === 'message' && entry.message.role === 'user') summaries = 0
        if (entry.type === 'compaction' && !entry.isTruncation) summaries++
        expect(summaries).toBeLessThanOrEqual(2)
      }
    }),
    { numRuns: RUNS },
  )
})

describe('compacting on request', () => {
  it('stores the summary, keeps tasks and the focus, and tools know of it', async () => {
    const context = engine(() => false)
    const todo = defineTool({
      name: 'todo_write',
      toolset: 'test',
      description: 'Plans.',
      keepsData: true,
      parameters: { type: 'object', properties: {} },
      execute: () => ({
        data: {
          todos: [
            { id: '1', content: 'rename', status: 'pending' },
            { id: '2', content: 'x', status: 'completed' },
          ],
        },
      }),
    })
    const model = scriptedModel([
      { calls: [['t', 'todo_write', {}]] },
      { text: 'Planned.' },
      { calls: [['a', 'look', {}]] },
      { text: 'Done.' },
    ])
    const agent = createAgent({ model, tools: [look, todo], contextEngine: context, extensions: [todoReminder()] })
    await agent.run('plan').result
    expect(await agent.planCompaction()).toMatchObject({ messages: 1 })
    expect(agent.entries().some(({ type }) => type === 'compaction')).toBe(false)
    expect(await agent.compact({ focus: 'names' })).toMatchObject({ type: 'compacted' })
    expect(context.requested[0]).toMatchObject({
      cause: 'asked',
      focus: 'names',
      carry: [
        'The task list has these open:\n- [pending] 1: rename\nIt has these done or dropped:\n- [completed] 2: x',
      ],
    })
    await agent.run('look').result
    expect(sent(model, 3).at(-1)).toBe('looked after 1 compactions')
  })

  it('waits for no run: it refuses while one is active', async () => {
    const { agent } = setUp(
      [{ text: 'One.' }],
      engine(() => false),
    )
    const run = agent.run('first')
    await expect(agent.compact()).rejects.toMatchObject({ code: 'agent.busy' })
    await run.result
    expect(await agent.compact()).toMatchObject({ type: 'compacted' })
  })

  it('is done by one process at a time', async () => {
    const store = createMemoryStore()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const slow: ContextEngine = {
      ...engine(() => false),
      compact: async () => {
        await held
        return { type: 'unchanged', reason: 'was held' }
      },
    }
    const options = { tools: [look], contextEngine: slow, session: { store, id: '20260101_000000_abcdef' } }
    const one = createAgent({ ...options, model: scriptedModel([{ text: 'One.' }]) })
    const other = createAgent({ ...options, model: scriptedModel([]) })
    await one.run('first').result
    const compacting = one.compact()
    await expect(other.compact()).rejects.toMatchObject({ code: 'store.session_busy' })
    release()
    expect(await compacting).toMatchObject({ type: 'unchanged' })
    expect(await other.compact()).toMatchObject({ type: 'unchanged' })
  })

  it('says that there is nothing to do it with', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    expect(await agent.compact()).toMatchObject({ type: 'unchanged' })
    expect(await agent.planCompaction()).toBeNull()
  })
})

describe('contextTokens', () => {
  it('counts from the last count of the provider on, or from the last compaction', () => {
    const text = (text: string, seq: number) =>
      ({ type: 'message', seq, atMs: 0, message: { role: 'user', content: [{ type: 'text', text }] } }) as const
    const counted = {
      type: 'message',
      seq: 2,
      atMs: 0,
      message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
      usage: { ...noUsage, inputTokens: 1_000, outputTokens: 50 },
    } as const
    const long = 'word '.repeat(400)
    expect(contextTokens([text(long, 1), counted])).toBe(1_050)
    expect(contextTokens([text(long, 1), counted, text(long, 3)])).toBe(1_050 + 504)
    const compaction = { type: 'compaction', seq: 4, atMs: 0, upToSeq: 2, summary: 's', tokensAfter: 300 } as const
    expect(contextTokens([text(long, 1), counted, compaction, text(long, 5)])).toBe(300 + 504)
    expect(contextTokens([text(long, 1)])).toBe(504)
  })
})
