import type { ModelEvent } from '@hermes/contracts/model'
import { encodeEventMessage } from '@hermes/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTransport } from '../../index.js'

const args = { text: 'é😀 "quoted" \n end' }
const event = (type: string, data: object) =>
  encodeEventMessage({ ':event-type': type, ':message-type': 'event' }, JSON.stringify({ ...data, p: 'abc' }))
const delta = (contentBlockIndex: number, piece: object) =>
  event('contentBlockDelta', { contentBlockIndex, delta: piece })
const body = Buffer.concat([
  event('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'hm' } }),
  delta(0, { reasoningContent: { signature: 'si' } }),
  delta(0, { reasoningContent: { signature: 'g' } }),
  delta(1, { text: 'é😀' }),
  event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 'c', name: 'write' } } }),
  delta(2, { toolUse: { input: JSON.stringify(args).slice(0, 9) } }),
  delta(2, { toolUse: { input: JSON.stringify(args).slice(9) } }),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 1 } }),
])

async function read(pieces: readonly Uint8Array[]): Promise<ModelEvent[]> {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  const fetch = async () => new Response(ReadableStream.from(pieces), { headers })
  const transport = createTransport({ provider: 'bedrock', baseUrl: 'http://127.0.0.1:1', fetch })
  const events: ModelEvent[] = []
  for await (const next of transport.stream({ model: 'm', messages: [], tools: [] }, { credential: null }))
    events.push(next)
  return events
}

it('gives the same events wherever the network splits the bytes', async () => {
  const whole = await read([body])
  expect(whole.map(({ type }) => type)).toEqual([
    'reasoning-delta',
    'text-delta',
    ...Array(3).fill('tool-call-delta'),
    'finish',
  ])
  expect(whole.at(-1)).toMatchObject({
    message: {
      content: [
        { type: 'reasoning', replay: { data: { reasoningText: { text: 'hm', signature: 'sig' } } } },
        { text: 'é😀' },
        { type: 'tool-call', args },
      ],
    },
    usage: { inputTokens: 1, outputTokens: 2 },
  })
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(cuts, async (unordered) => {
      const edges = [0, ...unordered.sort((left, right) => left - right), body.length]
      expect(await read(edges.slice(1).map((end, index) => body.subarray(edges[index], end)))).toEqual(whole)
    }),
  )
})

it('takes no stream for complete that ends before the service said so, wherever it was cut', async () => {
  const ended = body.length - event('metadata', {}).length
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 700 }), async (end) => {
      expect(end).toBeLessThan(ended)
      await expect(read([body.subarray(0, end)])).rejects.toMatchObject({
        code: expect.stringMatching(/^transport\.(?:connection|stream_cut)$/),
        retryable: true,
      })
    }),
  )
})

it('refuses a message whose bytes were changed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 8, max: 300 }), async (at) => {
      const changed = Buffer.from(body)
      changed[at] = changed[at]! ^ 1
      // A changed length can make a message seem longer than the stream.
      await expect(read([changed])).rejects.toMatchObject({
        code: expect.stringMatching(/^transport\.(?:malformed_response|connection)$/),
        retryable: true,
      })
    }),
  )
})
