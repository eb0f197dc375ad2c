// Delegated tasks, over HTTP: shown in the stream, listed, held, told something and ended.
import type { CapturedRequest } from '@hermes/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
})
afterAll(() => gateway.stop())

const isChild = ({ body }: Pick<CapturedRequest, 'body'>) =>
  String(body.messages[0]?.content).startsWith('You were started by another agent')
const lastOf = ({ body }: CapturedRequest) => body.messages.at(-1)!
const bodyOf = async (response: Response) => ({ status: response.status, body: await response.json() })

it('shows tasks in the stream, and lets them be held, told something and ended', async () => {
  const [apples, pears] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  scene.server.setHandler(async (request) => {
    if (!isChild(request)) {
      if (lastOf(request).role === 'tool') return { text: 'Both are over.' }
      const tasks = [{ goal: 'Count apples.' }, { goal: 'Count pears.' }]
      return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
    }
    if (lastOf(request).role === 'tool') return { text: 'Counted.' }
    await (JSON.stringify(request.body.messages).includes('apples') ? apples : pears).promise
    return { toolCalls: [{ name: 'todo_read', args: {} }] }
  })
  const messages = [{ role: 'user', content: 'Count both.' }]
  const response = await gateway.request('/chat/completions', {
    body: JSON.stringify({ model: 'hermes-agent', stream: true, messages }),
  })
  const session = response.headers.get('x-hermes-session-id')!
  const children = `/sessions/${session}/children`
  const listed = async () => (await bodyOf(await gateway.request(children))).body as { data: { state: string }[] }
  const states = async () => (await listed()).data.map(({ state }) => state)
  await expect.poll(states).toEqual(['running', 'running'])
  expect((await listed()).data[0]).toMatchObject({
    id: '1',
    object: 'child',
    goal: 'Count apples.',
    background: false,
    ended_at_ms: null,
  })
  const act = async (path: string, body = '') => bodyOf(await gateway.request(`${children}/${path}`, { body }))
  expect(await act('1/pause')).toEqual({ status: 200, body: { object: 'child.action', id: '1', action: 'pause' } })
  expect(await states()).toEqual(['paused', 'running'])
  expect(await act('1/steer', '{"text":"Only red ones."}')).toMatchObject({ status: 200 })
  apples.resolve()
  expect(await act('1/resume')).toMatchObject({ status: 200 })
  expect(await act('2/kill')).toMatchObject({ status: 200 })
  expect(await act('9/kill')).toMatchObject({ status: 404, body: { error: { code: 'child_not_found' } } })
  expect(await act('2/dance')).toMatchObject({ status: 400, body: { error: { code: 'unknown_action' } } })
  expect(await act('2/steer', 'x')).toMatchObject({ status: 400, body: { error: { code: 'invalid_text' } } })
  const stream = await response.text()
  expect(stream).toMatch(/"detail":"1: read the task list","data":\{"child":\{"id":"1","goal":"Count apples\."/)
  expect(stream).toContain('Both are over.')
  expect(await states()).toEqual(['completed', 'interrupted'])
  pears.resolve()
  expect(JSON.stringify(scene.server.requests.filter(isChild).at(-1)!.body)).toContain('Only red ones.')
})

it('has no tasks where nothing was delegated', async () => {
  expect(await bodyOf(await gateway.request('/sessions/nobody/children'))).toEqual({
    status: 200,
    body: { object: 'list', data: [] },
  })
})

it('tells what was denied to tasks, to programs and to what they delegated', async () => {
  const dangerous = { name: 'terminal', args: { command: `rm -rf ${scene.folder}/old` } }
  scene.server.setHandler((request) => {
    if (lastOf(request).role === 'tool') return { text: 'It may not.' }
    return { toolCalls: [isChild(request) ? dangerous : { name: 'delegate_task', args: { goal: 'Delete it.' } }] }
  })
  const body = JSON.stringify({ model: 'hermes-agent', messages: [{ role: 'user', content: 'Have it deleted.' }] })
  const answer = await bodyOf(await gateway.request('/chat/completions', { body }))
  const reason = expect.stringMatching(/^Not permitted \(/)
  expect(answer.body).toMatchObject({ hermes: { denied: [{ tool: 'terminal', reason }] } })
})
