import { createSessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { createMemoryApprovalStore, createPolicy } from '@hermes/safety'
import { expect, it } from 'vitest'
import type { PickRequest } from '../editor/picker.js'
import type { Output } from '../io.js'
import { answerQuestions } from './questions.js'

it('shows all of a command that it asks about, also what a terminal would obey or leave out', async () => {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada' })
  const [shown, written]: [PickRequest[], string[]] = [[], []]
  const output = {
    write: (text: string) => void written.push(text),
    columns: () => 100,
    colors: false,
  } as never as Output
  const pick = async (request: PickRequest) => {
    shown.push(request)
    return { type: 'none' } as const
  }
  const people = { personOf: () => null }
  const agent = { watchNotices: () => () => undefined, hasNotices: () => false }
  const createAgent = async () => ({ agent, children: { watch: () => () => undefined } }) as never
  const session = createSessionHost({ runtime: { policy, createAgent, people } as never as Runtime }).open({
    platform: 'cli',
    permissions: 'ask',
  })
  await session.agent()
  const stop = answerQuestions(session, { output, pick }, '/w')
  const command = `rm -rf build${' '.repeat(600)}\u001b];/tmp/evil.sh;#\u0007\u202e# ok`
  const action = { type: 'spawn', command, cwd: '/home/ada/project', backend: 'local' } as const
  const subject = {
    sessionId: session.id,
    platform: 'cli',
    agentPath: ['root'],
    origin: 'model',
    tainted: false,
  } as const
  const decision = await policy.decide(action, subject)
  if (decision.type !== 'ask') throw new Error('expected a question')
  expect((await policy.settled(decision.approvalId)).type).toBe('deny')
  const statements = ['\\x1b];', '/tmp/evil.sh;', '#\\x07\\u202e# ok']
  expect(shown[0]?.block?.join('\n')).toContain(statements.join('\n'))
  expect(written.join('')).toContain(statements.join('\n  '))
  stop()
})

it('survives an answer that cannot be stored', async () => {
  const memory = createMemoryApprovalStore()
  const { promise: tried, resolve } = Promise.withResolvers<void>()
  const approvals = {
    ...memory,
    put: async (approval: Parameters<typeof memory.put>[0]) => {
      if (approval.status !== 'answered') return memory.put(approval)
      setImmediate(resolve)
      throw new Error('disk full')
    },
  }
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', approvals })
  const people = { personOf: () => null }
  const agent = { watchNotices: () => () => undefined, hasNotices: () => false }
  const createAgent = async () => ({ agent, children: { watch: () => () => undefined } }) as never
  const session = createSessionHost({ runtime: { policy, createAgent, people } as never as Runtime }).open({
    platform: 'cli',
    permissions: 'ask',
  })
  await session.agent()
  const output = { write: () => undefined, columns: () => 100, colors: false } as never as Output
  const stop = answerQuestions(session, { output, pick: async () => ({ type: 'option', index: 0 }) }, '/w')
  const subject = {
    sessionId: session.id,
    platform: 'cli',
    agentPath: ['root'],
    origin: 'model',
    tainted: false,
  } as const
  const decision = await policy.decide({ type: 'spawn', command: 'rm -rf build', cwd: '/w', backend: 'local' }, subject)
  if (decision.type !== 'ask') throw new Error('expected a question')
  await tried
  expect(await policy.settled(decision.approvalId, { signal: AbortSignal.abort() })).toMatchObject({ type: 'deny' })
  stop()
})
