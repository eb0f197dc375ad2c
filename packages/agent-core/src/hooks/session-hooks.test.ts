// What is told of a session, of approvals and of children, and gates that have a person asked.
import { silentLogger, systemClock } from '@hermes/contracts'
import { messageText } from '@hermes/contracts/conversation'
import type { Extension, ToolCallVerdict } from '@hermes/contracts/extension'
import type { Action, ApprovalQuestion } from '@hermes/contracts/policy'
import { defineTool, type Tool, type ToolContext } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { createPolicy } from '@hermes/safety'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { hook } from '../__fixtures__/hook.js'
import { createExtensionRegistry } from '../extension-registry/extension-registry.js'
import { createAgent } from '../index.js'
import { createMemoryStore } from '../stores/memory-store.js'
import { createDelegateTaskTool } from '../tools/index.js'

const look: Tool = defineTool({
  name: 'look',
  toolset: 'test',
  description: 'Looks.',
  effect: 'read',
  parameters: { type: 'object', properties: {} },
  execute: () => 'seen',
}) as Tool
const ONE_CALL: readonly ScriptedStep[] = [{ calls: [['a', 'look', {}]] }, { text: 'Done.' }]

/** Notes what is told, in order. */
function diary() {
  const lines: string[] = []
  const keeping: Extension = {
    name: 'diary',
    setup({ hooks }) {
      hooks.on(
        'session-start',
        ({ isNew, platform }) => void lines.push(`session ${isNew ? 'new' : 'old'} ${platform}`),
      )
      hooks.on('run-start', () => void lines.push('run'))
      hooks.on('approval-request', ({ question }) => void lines.push(`asked ${question.rule}`))
      hooks.on('approval-resolve', ({ outcome }) => void lines.push(`answered ${outcome}`))
      hooks.on('child-started', ({ child }) => void lines.push(`child ${child.goal} ${child.sessionId}`))
      hooks.on('child-ended', ({ child, status, answer }) => void lines.push(`ended ${child.id}: ${status} ${answer}`))
      hooks.on('session-end', () => void lines.push('end'))
    },
  }
  return { lines, keeping }
}

it('a session begins with the first run of its agent, goes on with another model, and ends once', async () => {
  const { lines, keeping } = diary()
  const extensions = createExtensionRegistry([keeping], { logger: silentLogger })
  const store = createMemoryStore({})
  const agentOn = (text: string) =>
    createAgent({ model: scriptedModel([{ text }, { text }]), session: { store, id: 's' }, extensions })
  const first = agentOn('One.')
  await first.run('go').result
  await first.run('go on').result
  const second = agentOn('Two.')
  second.takeOver(first)
  await first.close()
  await second.run('and on').result
  await second.close()
  await second.close()
  const third = agentOn('Three.')
  await third.close()
  const fourth = agentOn('Four.')
  await fourth.run('again').result
  expect(lines).toEqual(['session new embedded', 'run', 'run', 'run', 'end', 'session old embedded', 'run'])
})

describe('a gate that wants a person asked', () => {
  const asks = (reason: string, by = 'asks') =>
    hook('before-tool-call', (): ToolCallVerdict => ({ type: 'ask', reason }), { by })
  const harmless: Action = { type: 'read', path: '/w/notes.txt', backend: 'local' }

  function setUp(
    extensions: readonly Extension[],
    {
      actions = [],
      approvalTimeoutMs = 300_000,
    }: Partial<{ actions: readonly Action[]; approvalTimeoutMs: number }> = {},
  ) {
    const model = scriptedModel(ONE_CALL)
    const policy = createPolicy({ mode: 'off', home: '/h/.hermes', userHome: '/h', approvalTimeoutMs })
    const tools = [{ ...look, actions: () => actions }]
    const agent = createAgent({ model, tools, safety: { policy }, extensions })
    const questions: ApprovalQuestion[] = []
    const answering = (choice: 'once' | 'deny' | null) =>
      policy.listen(agent.sessionId, (id, question) => {
        questions.push(question)
        if (choice !== null) setImmediate(() => void policy.answer(id, choice))
      })
    return {
      agent,
      model,
      policy,
      questions,
      answering,
      result: () => messageText(model.requests[1]!.messages.at(-1)!),
    }
  }

  it.each([[[harmless]], [[]]])(
    'has them asked for this once about actions %j that the policy would allow',
    async (actions) => {
      const { lines, keeping } = diary()
      const { agent, questions, answering, result } = setUp([asks('It is Friday.'), asks('Too.', 'second'), keeping], {
        actions,
      })
      answering('once')
      await agent.run('go').result
      expect(questions).toMatchObject([
        { rule: 'extension:asks', choices: ['once', 'deny'], action: actions[0] ?? { type: 'send' } },
      ])
      expect(questions[0]!.summary).toContain('It is Friday.')
      expect(result()).toMatch(/^seen/)
      expect(lines.slice(2, 4)).toEqual(['asked extension:asks', 'answered allow'])
    },
  )

  it('is a denial when they say no, when nobody is there, and when the policy cannot ask', async () => {
    const refusing = setUp([asks('It is Friday.')], { actions: [harmless] })
    refusing.answering('deny')
    await refusing.agent.run('go').result
    expect(refusing.result()).toMatch(/^Not permitted \(extension:asks\)/)
    const alone = setUp([asks('It is Friday.')])
    await alone.agent.run('go').result
    expect(alone.result()).toMatch(/^Not permitted \(extension:asks\): It is Friday\./)
    const model = scriptedModel(ONE_CALL)
    await createAgent({ model, tools: [look], extensions: [asks('It is Friday.')] }).run('go').result
    expect(messageText(model.requests[1]!.messages.at(-1)!)).toContain('Nobody can be asked here.')
  })

  it('parks a run that nobody answers, and lets it go on with the answer', async () => {
    const { lines, keeping } = diary()
    const { agent, policy, answering, result } = setUp([asks('It is Friday.'), keeping], {
      actions: [harmless],
      approvalTimeoutMs: 1,
    })
    answering(null)
    const { status, pending } = await agent.run('go').result
    expect(status).toBe('parked')
    expect(lines.slice(2)).toEqual(['asked extension:asks', 'answered parked'])
    await policy.answer(pending![0]!, 'once')
    expect(await agent.run({ resume: true }).result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(result()).toMatch(/^seen/)
  })

  it('does not bend what the policy denies', async () => {
    const gone: Action = { type: 'spawn', command: 'rm -rf /', cwd: '/w', backend: 'local' }
    const { agent, questions, answering, result } = setUp([asks('It is Friday.')], { actions: [gone] })
    answering('once')
    await agent.run('go').result
    expect(questions).toEqual([])
    expect(result()).toMatch(/^Not permitted/)
  })
})

it('children are told of as they start and end, to the parts of the agent that delegated', async () => {
  const { lines, keeping } = diary()
  const { hooks } = createExtensionRegistry([keeping], { logger: silentLogger })
  const limits = { maxChildren: 3, maxDepth: 1, maxAnswerChars: 1_000 }
  const createChild = async () => {
    const agent = createAgent({ model: scriptedModel([{ text: 'Found.' }]), session: { id: 'child' }, extensions: [] })
    return { agent, close: () => agent.close() }
  }
  const tool = createDelegateTaskTool({ delegation: { limits, depth: 0, createChild, hooks }, clock: systemClock })
  const registry = createToolRegistry({ tools: [tool] })
  const prepared = await registry.prepare(
    { name: 'delegate_task', args: { goal: 'find it' } },
    new Set(['delegate_task']),
  )
  const context = { signal: new AbortController().signal, progress: () => undefined } as unknown as ToolContext
  await registry.execute(prepared as never, context)
  expect(lines).toEqual(['child find it child', expect.stringMatching(/^ended \S+: completed Found\.$/)])
})
