import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Tool, ToolContext, ToolResult } from '@hermes/contracts/tool'
import { describe, expect, it } from 'vitest'
import { allowing } from '../__fixtures__/serve.js'
import type { ReadPage, SearchAnswer, Web } from '../web.js'
import { createWebExtractTool, createWebSearchTool } from './index.js'
import { windowOf } from './window.js'

function contextOf(): ToolContext {
  const scratch = new Map<string, unknown>()
  const state = {
    latest: () => null,
    compactions: () => 0,
    scratch: <T>(key: string, create: () => T) => {
      if (!scratch.has(key)) scratch.set(key, create())
      return scratch.get(key) as T
    },
  }
  return { signal: AbortSignal.timeout(5_000), state, permit: allowing().permit } as unknown as ToolContext
}

const webWith = (parts: Partial<Web>) => ({ web: { charLimit: 15_000, mayFetch: async () => true, ...parts } as Web })
const run = async <Args>(tool: Tool<Args>, args: object, context = contextOf()) =>
  (await tool.execute(args as Args, context)) as Exclude<ToolResult, string> & {
    readonly data: JsonObject
    readonly text: string
  }

describe('web_search', () => {
  const answer: SearchAnswer = {
    hits: [
      { title: 'One', url: 'https://one.example/', snippet: 'x'.repeat(1_000), date: '2026-11-01T10:00:00Z' },
      { title: '', url: 'https://two.example/', snippet: '' },
    ],
    servedBy: 'keenable',
    isAnonymous: true,
    most: 20,
  }

  it('gives rank, title, address, date and what is said, and who gave it', async () => {
    const { text, data } = await run(createWebSearchTool(webWith({ search: async () => answer })), { query: ' a\n b ' })
    expect(text.split('\n').slice(0, 5)).toEqual([
      '1. One',
      '   https://one.example/',
      `   2026-11-01: ${'x'.repeat(400)}…`,
      '2. https://two.example/',
      '   https://two.example/',
    ])
    expect(data).toMatchObject({
      results: [
        { rank: 1, title: 'One', url: 'https://one.example/', date: '2026-11-01T10:00:00Z' },
        { rank: 2, snippet: '' },
      ],
      served_by: 'keenable',
    })
  })

  it('says once in a session that a service is asked without a key', async () => {
    const [tool, context] = [createWebSearchTool(webWith({ search: async () => answer })), contextOf()]
    expect((await run(tool, { query: 'a' }, context)).text).toContain('web.keyless_fallback: false')
    expect((await run(tool, { query: 'b' }, context)).text).not.toContain('keyless_fallback')
  })

  it('says where a service gives fewer than were wanted', async () => {
    const tool = createWebSearchTool(webWith({ search: async () => answer }))
    const capped = await run(tool, { query: 'a', limit: 50 })
    expect(capped.text).toContain('(keenable gives 20 results at most, and 50 were wanted.)')
    expect(capped.data).toMatchObject({ limited_to: 20 })
    expect((await run(tool, { query: 'a', limit: 20 })).data).not.toHaveProperty('limited_to')
  })

  it('says that nothing was found, and asks nobody for nothing', async () => {
    const tool = createWebSearchTool(webWith({ search: async () => ({ ...answer, hits: [] }) }))
    expect((await run(tool, { query: 'a' })).text).toContain('Nothing was found')
    expect(await run(tool, { query: ' \n' })).toMatchObject({ isError: true })
  })
})

describe('web_extract', () => {
  const page = (text: string, more: Partial<ReadPage> = {}): ReadPage => ({
    url: 'https://a.example/',
    title: 'A',
    text,
    servedBy: 'local',
    ...more,
  })
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index} ${'-'.repeat(20)}`).join('\n')

  it('shows the beginning and the end of a long page, and gives every character by start', async () => {
    let reads = 0
    const web = webWith({ extract: async () => page(reads++ === 0 ? lines : '') })
    const [tool, context] = [createWebExtractTool(web), contextOf()]
    const first = await run(tool, { urls: ['a.example'], char_limit: 4_000 }, context)
    expect(first.text).toContain('line 0 ')
    expect(first.text).toContain('line 2999 ')
    let whole = ''
    for (let start: number | undefined = 0; start !== undefined; ) {
      const { data } = await run(tool, { urls: ['a.example'], char_limit: 4_000, start: Math.max(start, 1) }, context)
      const [result] = data['results'] as readonly [{ content: string; next_start?: number }]
      whole += result.content.replace(/\n\n\[… \d+ more characters: start=\d+\]$/, '')
      start = result.next_start
    }
    expect(`l${whole}`).toBe(lines)
    expect(reads).toBe(1)
  })

  it('answers each page by itself, and fails only where all do', async () => {
    const web = webWith({
      extract: async (url) => {
        if (url.includes('bad')) throw new HermesError(`${url} answers 404.`, { code: 'web.unreadable' })
        return page('Good text.', { url, note: 'PDF, 1 page.' })
      },
    })
    const tool = createWebExtractTool(web)
    const mixed = await run(tool, { urls: ['https://good.example/', 'https://bad.example/', 'https://good.example/'] })
    expect(mixed).toMatchObject({
      isError: false,
      data: { results: [{ content: 'Good text.' }, { error: expect.stringContaining('404') }] },
    })
    expect(mixed.text).toContain('PDF, 1 page.')
    expect(await run(tool, { urls: ['https://bad.example/', 'http://'] })).toMatchObject({ isError: true })
  })

  it('lets what is not for the model pass, such as a question that waits for its answer', async () => {
    const web = webWith({ extract: async () => Promise.reject(new Error('parked')) })
    await expect(run(createWebExtractTool(web), { urls: ['https://a.example/'] })).rejects.toThrow('parked')
  })

  it('says where the page ends', async () => {
    const tool = createWebExtractTool(webWith({ extract: async () => page('short') }))
    expect((await run(tool, { urls: ['https://a.example/'], start: 50 })).text).toContain('There are 5 characters')
  })
})

describe('both', () => {
  it('are there only where anything may be fetched', async () => {
    const services = webWith({ mayFetch: async () => false })
    for (const tool of [createWebSearchTool(services), createWebExtractTool(services)])
      expect(await tool.available!()).toBe(false)
  })
})

it('a window is three quarters head and a quarter tail, cut at lines where they are near', () => {
  const text = Array.from({ length: 100 }, (_, index) => `${String(index).padStart(2, '0')}${'.'.repeat(47)}`).join(
    '\n',
  )
  const { text: shown, nextStart } = windowOf(text, { start: 0, limit: 2_000 })
  const [head, note, tail] = shown.split('\n\n')
  expect(head!.length).toBeGreaterThan(1_400)
  expect(head!.length).toBeLessThanOrEqual(1_500)
  expect(text.startsWith(`${head}\n`)).toBe(true)
  expect(nextStart).toBe(head!.length)
  expect(note).toMatch(/left out here: read on with start=\d+/)
  expect(text.endsWith(`\n${tail}`)).toBe(true)
  expect(windowOf('x'.repeat(10_000), { start: 0, limit: 2_000 }).text.length).toBeLessThan(2_100)
})
