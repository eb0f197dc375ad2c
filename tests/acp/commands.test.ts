// Slash commands in an editor: offered at once, shown as text, carried out in the session.
import type { CapturedRequest } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Editor, startEditor } from '../support/acp.js'
import { wireViolations } from '../support/acp-wire.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
let editor: Editor

beforeEach(async () => {
  editor = await startEditor(['--base-url', scene.server.baseUrl, '-m', 'm'], scene)
})
afterEach(async () => {
  await editor.leave()
  expect(wireViolations(editor.process.wire)).toEqual([])
})

const texts = () =>
  editor.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
  )
/** An answer may be there before the editor has handled the update in front of it. */
const newest = () => expect.poll(() => texts().at(-1))

it('offers commands, carries them out without a model, and runs what they send', async () => {
  const { newSession, prompt, updates } = editor
  scene.server.enqueue({ text: 'Hello.' }, { text: 'Hello again.' })
  const id = await newSession(scene.cwd)
  const offered = () =>
    JSON.stringify(updates.filter(({ update }) => update.sessionUpdate === 'available_commands_update'))
  await expect.poll(offered).toContain('{"name":"undo","description"')
  expect(offered()).not.toMatch(/"name":"(?:exit|new|resume|yolo|queue)"/)
  expect(await prompt(id, '/title Garden')).toBe('end_turn')
  await newest().toBe('There is nothing to name yet; say something first.')
  expect(await prompt(id, '/modle')).toBe('end_turn')
  await newest().toContain('Did you mean /model?')
  expect(await prompt(id, '/exit')).toBe('end_turn')
  await newest().toBe('/exit cannot be carried out here.')
  expect(scene.server.requests).toHaveLength(0)
  expect(await prompt(id, 'Hi.')).toBe('end_turn')
  expect(await prompt(id, '/title Garden')).toBe('end_turn')
  await newest().toBe('This session is called Garden.')
  expect(await prompt(id, '/retry')).toBe('end_turn')
  await newest().toBe('Hello again.')
  expect(await prompt(id, '/undo')).toBe('end_turn')
  await newest().toContain('Took back 2 messages, from “Hi.” on.')
  expect(await prompt(id, '/sessions')).toBe('end_turn')
  await newest().toMatch(/^\* \S+ .* Garden$/)
})

/** What the server said, in order: answers by the method they answer, updates by their kind. */
function wireOrder(): readonly string[] {
  const methods = new Map<unknown, string>()
  return editor.process.wire.flatMap(({ from, line }) => {
    const { id, method, params } = JSON.parse(line)
    if (from === 'client') methods.set(id, method)
    else return [params?.update?.sessionUpdate ?? methods.get(id) ?? method]
    return []
  })
}

it('offers them right after the answer that opens a session, new or loaded', async () => {
  const { agent, newSession, prompt, update, updates } = editor
  scene.server.enqueue({ text: 'Hello.' })
  const sessionId = await newSession(scene.cwd)
  await prompt(sessionId, 'Hi.')
  const answered = ['agent_message_chunk', 'usage_update', 'session/prompt']
  const opened = ['initialize', 'session/new', 'available_commands_update', ...answered]
  await expect.poll(wireOrder).toEqual(opened)
  const first = await update(({ sessionUpdate }) => sessionUpdate === 'available_commands_update')
  await agent.request('session/load', { sessionId, cwd: scene.cwd, mcpServers: [] })
  await expect.poll(() => updates.at(-1)?.update).toEqual(first)
  const history = ['user_message_chunk', 'agent_message_chunk']
  expect(wireOrder()).toEqual([...opened, ...history, 'session/load', 'available_commands_update'])
})

it('plans as the mode of the editor says', async () => {
  const { newSession, prompt, updates } = editor
  scene.server.enqueue({ text: '1. Write a.txt.' }, { text: 'Done.' })
  const id = await newSession(scene.cwd)
  const modes = () =>
    updates.flatMap(({ update }) => (update.sessionUpdate === 'current_mode_update' ? [update.currentModeId] : []))
  expect(await prompt(id, '/plan Write it.')).toBe('end_turn')
  await expect.poll(() => [modes(), texts().at(-1)]).toEqual([['plan'], '1. Write a.txt.'])
  expect(await prompt(id, '/plan accept')).toBe('end_turn')
  await expect.poll(() => [modes(), texts().at(-1)]).toEqual([['plan', 'work'], 'Done.'])
})

it('takes commands during a prompt where they may come, and refuses the others', async () => {
  const { agent, newSession, prompt, update } = editor
  scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo started; sleep 60' } }] })
  const id = await newSession(scene.cwd)
  const waiting = prompt(id, 'Wait.')
  await update((item) => item.sessionUpdate === 'tool_call_update' && JSON.stringify(item).includes('started'))
  await expect(prompt(id, '/undo')).rejects.toMatchObject({ code: -32600, message: expect.stringContaining('cancel') })
  expect(await prompt(id, '/agents')).toBe('end_turn')
  await newest().toBe('No tasks were delegated in this conversation.')
  expect(await prompt(id, '/stop')).toBe('end_turn')
  expect(await waiting).toBe('cancelled')
  const file = { type: 'resource_link', uri: `file://${scene.cwd}/a.txt`, name: 'a.txt' } as const
  await agent.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: '/plan Mend' }, file] })
  await newest().toBe('/plan takes text only; name files by their path.')
  expect(scene.server.requests).toHaveLength(1)
})

it('ends /compress with session/cancel, and the session stays as it was', async () => {
  const { agent, newSession, prompt } = editor
  const isRecord = ({ body }: CapturedRequest) => String(body.messages[0]?.content).startsWith('You write the record')
  scene.server.setHandler((request) =>
    isRecord(request) ? new Promise(() => undefined) : { text: 'word '.repeat(3_000) },
  )
  const id = await newSession(scene.cwd)
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) await prompt(id, text)
  const before = scene.server.requests.length
  const compressing = prompt(id, '/compress')
  await scene.server.waitForRequests(before + 1)
  await agent.notify('session/cancel', { sessionId: id })
  expect(await compressing).toBe('cancelled')
  scene.server.setHandler(() => ({ text: 'Five.' }))
  expect(await prompt(id, 'Five?')).toBe('end_turn')
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('One.')
})
