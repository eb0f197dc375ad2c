import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAgent } from '@hermes/agent-core'
import type { Message } from '@hermes/contracts/conversation'
import { openStorage, type Storage } from '@hermes/storage'
import { needs, postgresMissing, startPostgresServer } from '@hermes/testkit/daemons'
import { describe, expect, it, onTestFinished } from 'vitest'

const fixtures = join(import.meta.dirname, '../__fixtures__')
const WORDS_A_SECOND = 20

/** Starts an agent that shows a word each 50 ms and kills it with the word that is shown so many seconds after the first. */
async function killAfter(seconds: number, place: string): Promise<number> {
  const args = [
    '--conditions=@hermes/source',
    `--import=${fixtures}/../../../testkit/src/__fixtures__/load-sources.mjs`,
    `${fixtures}/slow-answer.mjs`,
  ]
  const child = spawn(process.execPath, [...args, place, 's', '400'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  let shown = 0
  for await (const line of createInterface(child.stdout)) {
    shown = Math.max(shown, Number(line))
    if (shown > seconds * WORDS_A_SECOND) child.kill('SIGKILL')
  }
  await ended
  return shown
}

/** What is in the log of the answer, as its words. */
async function kept(store: Storage): Promise<readonly string[]> {
  const messages = (await store.log.entries('s')).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
  expect(messages.map(({ role }) => role)).toEqual(messages.length === 1 ? ['user'] : ['user', 'assistant'])
  const [answer] = messages.slice(1)
  if (!answer) return []
  const [text, note] = answer.content
  expect(note).toMatchObject({ origin: 'reminder', text: expect.stringContaining('cut off') })
  return text?.type === 'text' ? text.text.trim().split(' ') : []
}

async function expectKept(seconds: number, place: string, open: () => Promise<Storage>): Promise<void> {
  const shown = await killAfter(seconds, place)
  const store = await open()
  onTestFinished(() => store.close())
  const words = await kept(store)
  expect(words).toEqual(Array.from(words, (_, at) => `word${at + 1}`))
  expect(words.length).toBeLessThanOrEqual(shown)
  // Nothing is written in the first second, or it was just about to be.
  if (seconds < 2) return
  // A second of words, and what one write and one kill take on a busy machine.
  expect(words.length).toBeGreaterThan(Math.max(1, shown - 3 * WORDS_A_SECOND))
  const seen: string[] = []
  const model = {
    provider: 'slow',
    model: 'slow',
    async *stream({ messages }: { readonly messages: readonly Message[] }) {
      seen.push(...messages.map((message) => JSON.stringify(message.content)))
      yield {
        type: 'finish' as const,
        message: {
          role: 'assistant' as const,
          content: [{ type: 'text' as const, text: 'Done.' }],
          finishReason: 'stop' as const,
        },
        usage: {
          inputTokens: 0,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          costUsd: 0,
        },
      }
    },
  }
  await createAgent({ model, session: { store, id: 's' }, tools: [] }).run({ resume: true }).result
  expect(seen.at(-2)).toContain(words.join(' '))
  expect(seen.at(-1)).toContain('Go on exactly where it stopped')
}

describe('an answer that is being streamed when its process is killed', () => {
  it.each([0.9, 3])('is in the log of a file as far as it was shown a second before: after %d s', async (seconds) => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-partial-'))
    onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 10 }))
    const path = join(folder, 'state.db')
    await expectKept(seconds, path, () => openStorage({ path }))
  })

  needs(postgresMissing())('on PostgreSQL', () => {
    it('is kept there too, after 3 s', async () => {
      const server = await startPostgresServer()
      onTestFinished(() => server.stop())
      await server.createDatabase('kept')
      const url = server.url('kept')
      await expectKept(3, url, () => openStorage({ url }))
    })
  })
})
