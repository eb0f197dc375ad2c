import { createSessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { createMemoryApprovalStore, createPolicy } from '@hermes/safety'
import { expect, it } from 'vitest'
import { createPicker, type PickRequest } from '../editor/picker.js'
import type { Output } from '../io.js'
import { createStyle } from '../render/style.js'
import { drawFooter } from './footer.js'
import { drawPicker } from './picker-rows.js'
import { answerQuestions } from './questions.js'

/** What a person is shown of the question about a command: what is written above, then the request. */
async function question(command: string, size = { columns: 100, rows: 50 }) {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada' })
  const [shown, written]: [PickRequest[], string[]] = [[], []]
  const output = {
    write: (text: string) => void written.push(text),
    columns: () => size.columns,
    rows: () => size.rows,
    colors: false,
  } as never as Output
  let above = ''
  const pick = async (request: PickRequest) => {
    shown.push(request)
    above = written.join('')
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
  stop()
  return { above, request: shown[0]!, written: written.join('') }
}

it('shows all of a command that it asks about, also what a terminal would obey or leave out', async () => {
  const { request, written } = await question(`rm -rf build${' '.repeat(600)}\u001b];/tmp/evil.sh;#\u0007\u202e# ok`)
  const statements = ['\\x1b];', '/tmp/evil.sh;', '#\\x07\\u202e# ok']
  expect(request.block?.join('\n')).toContain(statements.join('\n'))
  expect(written).toContain(statements.join('\n  '))
})

const BAR = {
  ...{ model: 'm', contextTokens: null, contextWindow: null, cost: null, modes: [], title: null },
  ...{ folder: '~/work', branch: null },
}

it.each([
  ['a word of many rows', `echo ${'a'.repeat(900)}; rm -rf build`, { columns: 80, rows: 24 }],
  ['wide letters', `echo ${'字'.repeat(450)}; rm -rf build`, { columns: 80, rows: 24 }],
  ['statements in a low panel', `${'ls; '.repeat(6)}rm -rf build`, { columns: 80, rows: 15 }],
  ['one statement in the lowest panel', 'echo a; rm -rf build', { columns: 80, rows: 8 }],
  ['statements on a screen that is high', `${'ls; '.repeat(6)}rm -rf build`, { columns: 80, rows: 50 }],
])('hides no end of a command: %s', async (_, command, { columns, rows }) => {
  const { above, request } = await question(command, { columns, rows })
  const style = createStyle({ colors: false } as never as Output)
  const footer = drawFooter({
    ...{ status: [], picker: createPicker(request), editor: null, menu: null, bar: BAR, columns, rows, style },
  })
  expect(above + footer.rows.join('\n')).toContain('\n  rm -rf build')
  expect(above.includes('rm -rf build')).toBe(rows < 50)
})

it('says so where what it asks about does not fit on a screen that became lower', async () => {
  const style = createStyle({ colors: false } as never as Output)
  const request = { title: 'Run this?', block: ['a', 'b', 'c'], notes: ['Why.'], options: [], freeText: false }
  const rowsIn = (room: number) => drawPicker(createPicker(request), { columns: 40, room, style }).rows
  expect(rowsIn(5)).toEqual(['Run this?', '  a', '  b', '  c', 'Why.'])
  expect(rowsIn(4)).toEqual(['Run this?', '  a', '  b', '  c'])
  expect(rowsIn(3)).toEqual(['Run this?', '  a', expect.stringContaining('… and more of it')])
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
  const output = { write: () => undefined, columns: () => 100, rows: () => 24, colors: false } as never as Output
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
