// Planning and tasks that were handed on, as an editor sees them.
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Editor, startEditor } from '../support/acp.js'
import { wireViolations } from '../support/acp-wire.js'

let server: ModelServer
let temporary: TemporaryHome
let home: string
let cwd: string
let editor: Editor

beforeEach(async () => {
  server = await startModelServer()
  temporary = await temporaryHome()
  home = join(temporary.path, 'user', '.hermes')
  cwd = join(temporary.path, 'project')
  await mkdir(cwd)
  editor = await startEditor(['--base-url', server.baseUrl, '-m', 'm'], { home, cwd })
})
afterEach(async () => {
  await editor.leave()
  expect(wireViolations(editor.process.wire)).toEqual([])
  await server.close()
  await temporary.remove()
})

const textOf = (content: unknown) => JSON.stringify(content)

it('plans in one mode and works in the other, and a stored session comes back in its mode', async () => {
  const { agent, newSession, prompt, updates } = editor
  server.enqueue(
    { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'x\n' } }] },
    { text: '1. Write a.txt.\n2. Read it.' },
    { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'x\n' } }] },
    { text: 'Done.' },
  )
  const { modes, sessionId } = await agent.request('session/new', { cwd, mcpServers: [] })
  expect(modes).toMatchObject({ currentModeId: 'work', availableModes: [{ id: 'work' }, { id: 'plan' }] })
  await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await expect(agent.request('session/set_mode', { sessionId, modeId: 'dance' })).rejects.toThrow(/Unknown mode/)
  expect(await prompt(sessionId, 'Write it.')).toBe('end_turn')
  await expect(access(join(cwd, 'a.txt'))).rejects.toThrow()
  expect(textOf(server.requests[1]!.body.messages.at(-1))).toContain('plan mode is on')

  const loaded = await agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  expect(loaded.modes).toMatchObject({ currentModeId: 'plan' })
  await agent.request('session/set_mode', { sessionId, modeId: 'work' })
  expect(updates.at(-1)!.update).toEqual({
    sessionUpdate: 'plan',
    entries: ['Write a.txt.', 'Read it.'].map((content) => ({ content, priority: 'medium', status: 'pending' })),
  })
  expect(await prompt(sessionId, 'Go.')).toBe('end_turn')
  await access(join(cwd, 'a.txt'))
  expect(server.violations).toEqual([])
  expect(await newSession(cwd)).not.toBe(sessionId)
})

it('tells what each of several tasks is doing', async () => {
  const { newSession, prompt, updates } = editor
  server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    const isChild = textOf(request.body.messages[0]!).includes('You were started by another agent')
    if (last.role === 'tool') return { text: 'Done.' }
    if (isChild) return { toolCalls: [{ name: 'todo_read', args: {} }] }
    const tasks = [{ goal: 'Count apples.' }, { goal: 'Count pears.' }]
    return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
  })
  expect(await prompt(await newSession(cwd), 'Count.')).toBe('end_turn')
  const shown = updates.map(({ update }) => textOf(update))
  expect(shown).toContainEqual(expect.stringMatching(/1: read the task list\\n2: read the task list|2: .*\\n1: /))
})
