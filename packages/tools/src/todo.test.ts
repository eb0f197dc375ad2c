import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { createToolRegistry } from '@hermes/registry'
import { describe, expect, it } from 'vitest'
import { call, createToolContext } from './__fixtures__/test-context.js'
import { createTodoWriteTool } from './index.js'

const environment = {} as Environment
const write = createTodoWriteTool()

function contextAfter(data?: JsonValue, callsSince = 0) {
  return createToolContext({
    environment,
    ...(data === undefined ? {} : { latest: { todo_write: { data, callsSince } } }),
  })
}

const plan = [
  { id: '1', content: 'Read', status: 'completed' },
  { id: '2', content: 'Patch', status: 'in_progress' },
  { id: '3', content: 'Report', status: 'pending' },
]

describe('todo_write', () => {
  it('replaces the list and returns all of it', async () => {
    const result = await call(
      write,
      { todos: plan },
      contextAfter({ todos: [{ id: 'x', content: 'Old', status: 'pending' }] }),
    )
    expect(result.text).toBe('[x] 1. Read\n[>] 2. Patch\n[ ] 3. Report')
    expect(result.data).toEqual({
      todos: plan,
      summary: { total: 3, pending: 1, in_progress: 1, completed: 1, cancelled: 0 },
    })
  })

  it('merges by id into the list that earlier results left', async () => {
    const first = await call(write, { todos: plan }, contextAfter())
    const update: readonly JsonObject[] = [
      { id: '2', status: 'completed' },
      { id: '4', content: 'Celebrate' },
    ]
    const result = await call(write, { todos: update, merge: true }, contextAfter(first.data))
    expect(result.text).toBe('[x] 1. Read\n[x] 2. Patch\n[ ] 3. Report\n[ ] 4. Celebrate')
  })

  it('lets the last of two items with one id win', async () => {
    const todos = [...plan, { id: '1', content: 'Read again', status: 'cancelled' }]
    expect((await call(write, { todos }, contextAfter())).text).toBe('[-] 1. Read again\n[>] 2. Patch\n[ ] 3. Report')
  })

  it('takes an unknown status for pending and keeps one item in progress', async () => {
    const todos = [
      { id: 'a', content: 'A', status: 'doing' },
      { id: 'b', content: 'B', status: 'in_progress' },
      { id: 'c', content: 'C', status: 'in_progress' },
    ]
    const { text, data } = await call(write, { todos }, contextAfter())
    expect(text).toBe(
      '[ ] a. A\n[>] b. B\n[ ] c. C\n"doing" of item a is no status; it is pending.\nOnly one item may be in progress: b is, c pending.',
    )
    expect(data['notes']).toHaveLength(2)
  })

  it('knows a status however it is spelled, and leaves no task without words', async () => {
    const todos = [
      { id: 'a', content: 'A', status: 'Completed' },
      { id: 'b', content: ' ', status: 'in-progress' },
      { id: 'c', content: 'C', status: 'IN PROGRESS' },
    ]
    const { text } = await call(write, { todos }, contextAfter())
    expect(text).toBe('[x] a. A\n[>] b. (no description)\n[ ] c. C\nOnly one item may be in progress: b is, c pending.')
  })

  it('accepts the list as JSON text and numbers as ids', async () => {
    const todos = JSON.stringify([{ id: 1, content: 'A', status: 'pending' }])
    expect((await call(write, { todos }, contextAfter())).text).toBe('[ ] 1. A')
  })

  it('keeps at most 256 items of 4,000 characters', async () => {
    const todos = Array.from({ length: 300 }, (_, index) => ({ id: String(index), content: 'x'.repeat(4001) }))
    const { data } = await call(write, { todos }, contextAfter())
    const kept = data['todos'] as readonly JsonObject[]
    expect(kept).toHaveLength(256)
    expect(kept[0]!['content']).toHaveLength(4000)
  })

  it('reads when called as todo without a list', async () => {
    const registry = createToolRegistry({ tools: [write] })
    const outcome = await registry.dispatch('todo', {}, contextAfter({ todos: plan }))
    expect(outcome.data).toMatchObject({ todos: plan })
  })

  it('tells the model the four states', async () => {
    const definitions = await createToolRegistry({ tools: [write] }).definitions()
    expect(JSON.stringify(definitions)).toContain('pending, in_progress, completed, cancelled')
  })
})

describe('todo_write without a list', () => {
  it('adds counts and the calls since the last update', async () => {
    const result = await call(write, {}, contextAfter({ todos: plan }, 12))
    expect(result.text).toBe(
      '[x] 1. Read\n[>] 2. Patch\n[ ] 3. Report\n1 completed, 2 remaining; last updated 12 calls ago.',
    )
    expect(result.data).toMatchObject({ todos: plan, remaining: 2, calls_since_update: 12 })
    const again = await call(write, {}, contextAfter(result.data, 3))
    expect(again.text).toContain('last updated 16 calls ago.')
  })

  it('says that there is no list', async () => {
    const result = await call(write, {}, contextAfter())
    expect(result.text).toBe('The task list is empty.')
    expect(result.data).toMatchObject({ todos: [] })
  })

  it('answers to the name that reading had', async () => {
    const registry = createToolRegistry({ tools: [write] })
    const shown = registry.callable(['todo_read', 'todo_write'])
    expect(await registry.prepare({ name: 'todo_read', args: {} }, shown)).toMatchObject({
      type: 'prepared',
      tool: { name: 'todo_write' },
    })
  })
})
