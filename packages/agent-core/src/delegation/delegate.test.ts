import { HermesError, type JsonObject } from '@hermes/contracts'
import { defineTool, type ToolContext } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { createFakeClock, finish, type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../index.js'
import { createDelegateTaskTool } from '../tools/index.js'
import type { ChildTask } from './child-task.js'
import type { Child, Delegation, DelegationLimits } from './delegation.js'

const look = defineTool({
  name: 'look',
  toolset: 'test',
  description: 'Looks.',
  effect: 'read',
  parameters: { type: 'object', properties: {} },
  summarize: () => 'look around',
  execute: () => ({ text: 'seen', external: true }),
})

const dig = defineTool({
  name: 'dig',
  toolset: 'test',
  description: 'Digs for ever.',
  effect: 'read',
  parameters: { type: 'object', properties: {} },
  summarize: () => 'dig deep',
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

interface SetUp {
  /** What the model of the n-th child answers. */
  readonly scripts?: readonly (readonly ScriptedStep[])[]
  readonly limits?: Partial<DelegationLimits>
  readonly depth?: number
  readonly createChild?: Delegation['createChild']
}

function setUp({ scripts = [], limits = {}, depth = 0, createChild }: SetUp) {
  const requested: ChildTask[] = []
  const models = scripts.map((script) => scriptedModel(script))
  const clock = createFakeClock(0)
  let closed = 0
  const delegation: Delegation = {
    limits: { maxChildren: 3, maxDepth: 1, maxAnswerChars: 1_000, ...limits },
    depth,
    createChild:
      createChild ??
      (async (task): Promise<Child> => {
        const model = models[requested.length]!
        requested.push(task)
        const agent = createAgent({ model, tools: [look, dig], clock, session: { id: `child-${requested.length}` } })
        return { agent, close: async () => void closed++ }
      }),
  }
  const registry = createToolRegistry({ tools: [createDelegateTaskTool({ delegation, clock })] })
  const shown: string[] = []
  const call = async (args: object, signal = new AbortController().signal) => {
    const prepared = await registry.prepare(
      { name: 'delegate_task', args: args as JsonObject },
      new Set(['delegate_task']),
    )
    if (prepared.type !== 'prepared') return prepared.outcome
    return registry.execute(prepared, {
      signal,
      progress: (text: string) => shown.push(text),
    } as unknown as ToolContext)
  }
  const resultText = async (args: object, signal?: AbortSignal) => {
    const outcome = await call(args, signal)
    return { ...outcome, text: outcome.content.map((part) => ('text' in part ? part.text : '')).join('') }
  }
  return { requested, models, clock, shown, resultText, registry, closed: () => closed }
}
const request = (model: ReturnType<typeof scriptedModel>, index = 0) =>
  JSON.stringify(model.requests[index]!.messages.at(-1)!.content)

describe('delegate_task', () => {
  it('gives a fresh agent the task and its context, and brings back its last words', async () => {
    const { resultText, models, shown, closed } = setUp({
      scripts: [[{ calls: [['a', 'look', {}]] }, { text: 'All is well.' }]],
    })
    const outcome = await resultText({ goal: 'Look after it.', context: 'It is in /srv.' })
    expect(outcome.text).toMatch(/^The task completed \(\d+ s, 1 tool calls\)\.\nAll is well\.$/)
    expect(outcome.data).toMatchObject([
      { status: 'completed', answer: 'All is well.', session_id: 'child-1', tool_calls: 1 },
    ])
    expect(request(models[0]!)).toContain('Your task:\\nLook after it.\\n\\nWhat you need to know:\\nIt is in /srv.')
    expect(shown).toEqual(['look around'])
    expect(outcome.content[0]).toMatchObject({ origin: 'external' })
    expect(closed()).toBe(1)
  })

  it('runs several side by side, and gives one result each in their order, whatever happens to one', async () => {
    let release = (): void => undefined
    const second = new Promise<void>((resolve) => (release = resolve))
    const { resultText, shown } = setUp({
      scripts: [
        [
          async function* () {
            await second
            yield finish('first')
          },
        ],
        [
          async function* () {
            release()
            yield finish('second')
          },
        ],
        [
          () => {
            throw new HermesError('The provider is down.', { code: 'transport.overloaded' })
          },
        ],
      ],
    })
    const outcome = await resultText({ tasks: [{ goal: 'a' }, { goal: 'b' }, { goal: 'c' }] })
    expect(outcome.text).toMatch(
      /^Task 1 completed.*\nfirst\n\nTask 2 completed.*\nsecond\n\nTask 3 failed.* The provider is down\.\n\(no answer\)$/s,
    )
    expect(outcome.isError).toBe(false)
    expect(shown).toEqual([])
  })

  it.each([
    [{}, 'Give a goal'],
    [{ goal: '  ' }, 'Each task needs a goal'],
    [{ tasks: [] }, 'Give a goal'],
    [{ tasks: [{ goal: 'a' }, { goal: 'b' }, { goal: 'c' }, { goal: 'd' }] }, '4 tasks are more than the 3'],
  ])('refuses %j and says what to do', async (args, text) => {
    const { resultText, requested } = setUp({})
    const outcome = await resultText(args)
    expect(outcome.isError).toBe(true)
    expect(outcome.text).toContain(text)
    expect(requested).toEqual([])
  })

  it.each([
    ['leaf', { depth: 0, limits: { maxDepth: 1 } }],
    ['orchestrator', { depth: 0, limits: { maxDepth: 2 } }],
    ['leaf', { depth: 1, limits: { maxDepth: 2 } }],
  ])('makes an orchestrator a %s at %j', async (role, options) => {
    const { resultText, requested } = setUp({ ...options, scripts: [[{ text: 'ok' }]] })
    await resultText({ goal: 'split it', role: 'orchestrator' })
    expect(requested[0]!.role).toBe(role)
  })

  it('interrupts the children with the call, and still has a result for each', async () => {
    const controller = new AbortController()
    const hang: ScriptedStep = async function* (_, signal) {
      controller.abort()
      signal!.throwIfAborted()
      await new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    }
    const { resultText, closed } = setUp({ scripts: [[hang], [hang]] })
    const outcome = await resultText({ tasks: [{ goal: 'a' }, { goal: 'b' }] }, controller.signal)
    expect(outcome.data).toMatchObject([{ status: 'interrupted' }, { status: 'interrupted' }])
    expect(outcome.isError).toBe(true)
    expect(closed()).toBe(2)
  })

  it('stops a child that makes no progress, and says so', async () => {
    const hang: ScriptedStep = async function* (_, signal) {
      await new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    }
    const { resultText, clock } = setUp({ scripts: [[hang]] })
    const outcome = resultText({ goal: 'a' })
    await clock.waitForSleepers()
    for (let elapsed = 0; elapsed < 480; elapsed += 30) await clock.advance(30_000)
    expect((await outcome).text).toMatch(
      /^The task interrupted .* It made no progress for 4[5-8]\d s \(asking test-model\) and was stopped\./,
    )
  })

  it('lets a child go on that streams slowly, thinks aloud, writes arguments or waits for its server', async () => {
    const steps = [
      { type: 'text-delta', text: 'a' },
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'tool-call-delta', index: 0, argsText: '{' },
      { type: 'retry-wait', attempt: 2, delayMs: 600_000, reason: 'rate_limit', message: 'Wait.', discard: true },
    ] as const
    let next: () => void = () => undefined
    const slow: ScriptedStep = async function* () {
      for (const step of steps) {
        yield step as never
        await new Promise<void>((resolve) => (next = resolve))
      }
      yield finish('Done.')
    }
    const { resultText, clock } = setUp({ scripts: [[slow]] })
    const outcome = resultText({ goal: 'a' })
    await clock.waitForSleepers()
    for (const step of steps) {
      const waitMs = step.type === 'retry-wait' ? 990_000 : 420_000
      for (let elapsed = 0; elapsed < waitMs; elapsed += 30_000) await clock.advance(30_000)
      next()
      // What was let go on is taken up before the clock goes on.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await outcome).text).toContain('Done.')
  })

  it('stops a child whose server never answers after a wait', async () => {
    const stuck: ScriptedStep = async function* (_, signal) {
      yield {
        type: 'retry-wait',
        attempt: 2,
        delayMs: 60_000,
        reason: 'rate_limit',
        message: 'Wait.',
        discard: true,
      } as never
      await new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    }
    const { resultText, clock } = setUp({ scripts: [[stuck]] })
    const outcome = resultText({ goal: 'a' })
    await clock.waitForSleepers()
    for (let elapsed = 0; elapsed < 540; elapsed += 30) await clock.advance(30_000)
    expect((await outcome).text).toMatch(/It made no progress for 4[5-8]\d s \(Wait\.\)/)
  })

  it('lets one tool take longer than a model may, and not for ever', async () => {
    const { resultText, clock } = setUp({ scripts: [[{ calls: [['a', 'dig', {}]] }, { text: 'never' }]] })
    let text = ''
    const outcome = resultText({ goal: 'a' }).then((result) => (text = result.text))
    await clock.waitForSleepers()
    for (let elapsed = 0; elapsed < 1_170; elapsed += 30) await clock.advance(30_000)
    expect(text).toBe('')
    for (let elapsed = 0; elapsed < 60; elapsed += 30) await clock.advance(30_000)
    expect(await outcome).toMatch(
      /^The task interrupted .* It made no progress for 1[12]\d\d s \(dig deep\) and was stopped\./,
    )
  })

  it('goes on without a child that does not end when it is told to', async () => {
    const controller = new AbortController()
    const deaf: ScriptedStep = async function* () {
      controller.abort()
      yield await new Promise<never>(() => undefined)
    }
    const { resultText, clock } = setUp({ scripts: [[deaf]] })
    const outcome = resultText({ goal: 'a' }, controller.signal)
    await clock.waitForSleepers()
    for (let elapsed = 0; elapsed < 120; elapsed += 30) await clock.advance(30_000)
    expect((await outcome).text).toMatch(
      /^The task interrupted .* It did not end when it was told to\.\n\(no answer\)$/,
    )
  })

  it('says why a child could not be made', async () => {
    const { resultText } = setUp({
      createChild: () => Promise.reject(new HermesError('Unknown toolset "x".', { code: 'x' })),
    })
    expect(await resultText({ goal: 'a', toolsets: ['x'] })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Unknown toolset "x".'),
    })
  })

  it('cuts a long answer in the middle', async () => {
    const { resultText } = setUp({
      limits: { maxAnswerChars: 100 },
      scripts: [[{ text: `begin ${'x'.repeat(500)} end` }]],
    })
    expect((await resultText({ goal: 'a' })).text).toMatch(/begin x+\n\[… \d+ characters left out …\]\nx+ end$/)
  })

  it('is not offered to an agent that may not delegate', async () => {
    const registry = createToolRegistry({ tools: [createDelegateTaskTool({ delegation: null })] })
    expect(await registry.definitions()).toEqual([])
  })
})

describe('an answer that has to be data', () => {
  const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }

  it('is read and checked', async () => {
    const { resultText, models } = setUp({ scripts: [[{ text: '```json\n{"count": 3}\n```' }]] })
    const outcome = await resultText({ goal: 'Count.', output_schema: schema })
    expect(outcome.data).toMatchObject([{ status: 'completed', output: { count: 3 } }])
    expect(request(models[0]!)).toContain('must be one JSON object that fits this schema')
  })

  it('may be corrected once', async () => {
    const { resultText, models } = setUp({ scripts: [[{ text: 'There are three.' }, { text: '{"count": 3}' }]] })
    expect((await resultText({ goal: 'Count.', output_schema: schema })).data).toMatchObject([{ output: { count: 3 } }])
    expect(request(models[0]!, 1)).toContain('It is not JSON')
  })

  it('comes as text with the reason when it still does not fit', async () => {
    const { resultText } = setUp({ scripts: [[{ text: '{"count": "three"}' }, { text: '{}' }]] })
    const outcome = await resultText({ goal: 'Count.', output_schema: schema })
    expect(outcome.data).toMatchObject([
      { status: 'completed', answer: '{}', problem: expect.stringContaining('count') },
    ])
    expect((outcome.data as JsonObject[])[0]).not.toHaveProperty('output')
  })
})
