import type { Entry } from '@hermes/contracts/conversation'
import { userText } from '@hermes/contracts/conversation'
import type { CommandContext, CommandTable } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { commandsOfViews } from './view-commands.js'

const entries: readonly Entry[] = [
  {
    type: 'prompt',
    seq: 1,
    atMs: 0,
    system: 'x'.repeat(400),
    tools: [],
    layers: [{ name: 'identity', source: 'SOUL.md', chars: 200 }],
  },
  { type: 'message', seq: 2, atMs: 0, message: userText('Find the kettle.') },
  {
    type: 'message',
    seq: 3,
    atMs: 60_000,
    usage: {
      inputTokens: 777,
      outputTokens: 5,
      cacheReadTokens: 600,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      costUsd: 0,
    },
    message: { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'look', args: {}, rawArgs: '{}' }] },
  },
]
const run = async (name: string, args = {}) => {
  const command = commandsOfViews({} as never).find((one) => one.name === name)!
  return command.run(args, { session: { entries: () => entries } } as unknown as CommandContext)
}

it('/context says what each part takes, and what the last request was', async () => {
  const { rows } = (await run('context')) as CommandTable
  const tokens = Object.fromEntries(rows.map(({ data }) => Object.values(data!).slice(0, 2) as [string, number]))
  expect(tokens['last request']).toBe(777)
  expect(tokens['system text']).toBeGreaterThan(0)
  expect(tokens['identity']).toBe(Math.round(tokens['system text']! / 2))
})

it('/history has the newest messages with their numbers, calls by name', async () => {
  const { rows } = (await run('history', { count: 1 })) as CommandTable
  expect(rows.map(({ cells }) => cells)).toEqual([['#3', '01-01 00:01', 'Hermes', 'calls look']])
})

it('/review asks for what is named, and for what is not committed without', async () => {
  expect(JSON.stringify(await run('review', { what: 'main..$&' }))).toContain('Review main..$&. Change nothing.')
  expect(JSON.stringify(await run('review'))).toContain('git diff')
})
