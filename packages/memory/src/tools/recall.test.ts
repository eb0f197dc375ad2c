import { createToolRegistry } from '@hermes/registry'
import { expect, it } from 'vitest'
import { createRecallTool, type RecallService } from './recall.js'

function setUp(found: Awaited<ReturnType<RecallService['search']>> = []) {
  const calls: string[] = []
  const recall: RecallService = {
    search: async (text) => {
      calls.push(`search ${text}`)
      return found
    },
    store: async (text) => void calls.push(`store ${text}`),
    forget: async (id) => id === '7',
  }
  const registry = createToolRegistry({ tools: [createRecallTool({ recall })] })
  const call = async (args: Record<string, string>) => {
    const context = { signal: new AbortController().signal } as never
    const { content, isError } = await registry.dispatch('recall', args, context)
    return { text: (content[0] as { text: string }).text, isError, origin: (content[0] as { origin?: string }).origin }
  }
  return { calls, call }
}

it('searches, stores and forgets, and marks what it found as text from outside', async () => {
  const { call, calls } = setUp([
    { id: '7', text: 'likes\ntea' },
    { id: null, text: 'is tall' },
  ])
  expect(await call({ text: 'tea' })).toEqual({
    text: '- likes tea (id 7)\n- is tall',
    isError: false,
    origin: 'external',
  })
  expect(await call({ action: 'store', text: 'a fact' })).toMatchObject({ text: 'Stored.' })
  expect(await call({ action: 'forget', id: '7' })).toMatchObject({ text: 'Forgotten.' })
  expect(await call({ action: 'forget', id: '8' })).toMatchObject({ isError: true, text: 'Nothing has the id "8".' })
  expect(calls).toEqual(['search tea', 'store a fact'])
})

it('says what is missing, and when nothing is known', async () => {
  const { call } = setUp()
  expect(await call({})).toMatchObject({ isError: true })
  expect(await call({ action: 'store', text: ' ' })).toMatchObject({ isError: true })
  expect(await call({ text: 'tea' })).toMatchObject({ text: 'Nothing is known about that.' })
})

it('is not offered where there is no provider', async () => {
  const registry = createToolRegistry({ tools: [createRecallTool({ recall: null })] })
  expect(await registry.definitions()).toEqual([])
})
