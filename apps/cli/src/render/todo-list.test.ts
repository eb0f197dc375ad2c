import { expect, it } from 'vitest'
import { createStyle } from './style.js'
import { taskLines, tasksOf } from './todo-list.js'

const PLAIN = createStyle({ colors: false })
const task = (content: string, status: string) => ({ id: content, content, status })

it('shows how far the list is, and what is around the task that is worked on', () => {
  const tasks = [...'abcdef']
    .map((name) => task(name, 'completed'))
    .concat(task('g', 'in_progress'), task('h', 'pending'))
  expect(taskLines(tasks, 10, PLAIN)).toEqual([
    'tasks · 6 of 8 done',
    ...[...'abcdef'].map((name) => `✓ ${name}`),
    '▸ g',
    '☐ h',
  ])
  expect(taskLines(tasks, 4, PLAIN)).toEqual(['tasks · 6 of 8 done · 5 not shown', '✓ f', '▸ g', '☐ h'])
  expect(taskLines([task('a', 'completed'), task('b', 'cancelled')], 6, PLAIN)).toEqual([
    'tasks · 1 of 2 done',
    '✓ a',
    '✗ b',
  ])
})

it('reads lists of the tool that keeps them only', () => {
  expect(tasksOf('todo_write', { todos: [task('a', 'pending')] })).toEqual([{ content: 'a', status: 'pending' }])
  expect(tasksOf('terminal', { todos: [] })).toBeNull()
  expect(tasksOf('todo_write', undefined)).toBeNull()
})
