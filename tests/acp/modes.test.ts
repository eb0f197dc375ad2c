// Planning and delegated tasks, as an editor sees them.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
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

const textOf = (content: unknown) => JSON.stringify(content)

it('plans in one mode and works in the other, and a stored session comes back in its mode', async () => {
  const { agent, newSession, prompt, updates } = editor
  scene.server.enqueue(
    { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'x\n' } }] },
    { text: '1. Write a.txt.\n2. Read it.' },
    { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'x\n' } }] },
    { text: 'Done.' },
  )
  const { modes, configOptions, sessionId } = await agent.request('session/new', { cwd: scene.cwd, mcpServers: [] })
  const values = (options: typeof configOptions) => options?.map(({ id, currentValue }) => [id, currentValue])
  expect(values(configOptions)).toEqual([
    ['mode', 'work'],
    ['reasoning', 'default'],
  ])
  const set = (configId: string, value: string) =>
    agent.request('session/set_config_option', { sessionId, configId, value })
  expect(values((await set('reasoning', 'high')).configOptions)).toContainEqual(['reasoning', 'high'])
  await expect(set('reasoning', 'a-lot')).rejects.toThrow(/Unknown reasoning effort "a-lot". Valid: default, minimal/)
  await expect(set('colour', 'red')).rejects.toThrow(/Unknown option "colour"/)
  expect(modes).toMatchObject({ currentModeId: 'work', availableModes: [{ id: 'work' }, { id: 'plan' }] })
  await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await expect(agent.request('session/set_mode', { sessionId, modeId: 'dance' })).rejects.toThrow(/Unknown mode/)
  expect(await prompt(sessionId, 'Write it.')).toBe('end_turn')
  await expect(access(join(scene.cwd, 'a.txt'))).rejects.toThrow()
  expect(textOf(scene.server.requests[1]!.body.messages.at(-1))).toContain('plan mode is on')

  const loaded = await agent.request('session/load', { sessionId, cwd: scene.cwd, mcpServers: [] })
  expect(loaded.modes).toMatchObject({ currentModeId: 'plan' })
  expect(values(loaded.configOptions)).toEqual([
    ['mode', 'plan'],
    ['reasoning', 'high'],
  ])
  expect(await prompt(sessionId, '/reasoning default')).toBe('end_turn')
  await expect
    .poll(() => updates.findLast(({ update }) => update.sessionUpdate === 'config_option_update')?.update)
    .toMatchObject({ configOptions: [{ id: 'mode' }, { id: 'reasoning', currentValue: 'default' }] })
  await set('mode', 'work')
  // The client hands updates on beside answers.
  await expect
    .poll(() => updates.findLast(({ update }) => update.sessionUpdate === 'plan')?.update)
    .toEqual({
      sessionUpdate: 'plan',
      entries: ['Write a.txt.', 'Read it.'].map((content) => ({ content, priority: 'medium', status: 'pending' })),
    })
  expect(await prompt(sessionId, 'Go.')).toBe('end_turn')
  await access(join(scene.cwd, 'a.txt'))
  const efforts = scene.server.requests.map(({ body }) => (body as { reasoning_effort?: string }).reasoning_effort)
  expect(efforts).toEqual(['high', 'high', undefined, undefined])
  expect(scene.server.violations).toEqual([])
  expect(await newSession(scene.cwd)).not.toBe(sessionId)
})

it('tells what each of several tasks is doing', async () => {
  const { newSession, prompt, updates } = editor
  scene.server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    const isChild = textOf(request.body.messages[0]!).includes('You were started by another agent')
    if (last.role === 'tool') return { text: 'Done.' }
    if (isChild) return { toolCalls: [{ name: 'todo_read', args: {} }] }
    const tasks = [{ goal: 'Count apples.' }, { goal: 'Count pears.' }]
    return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
  })
  expect(await prompt(await newSession(scene.cwd), 'Count.')).toBe('end_turn')
  const shown = updates.map(({ update }) => textOf(update))
  expect(shown).toContainEqual(expect.stringMatching(/1: read the task list\\n2: read the task list|2: .*\\n1: /))
})
