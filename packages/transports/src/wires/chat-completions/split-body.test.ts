import type { ModelEvent, ModelFinish } from '@hermes/contracts/model'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTransport } from '../../index.js'

const args = { text: 'é😀 "quoted" \n end' }
const event = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`
const body = new TextEncoder().encode(
  [
    event({ delta: { content: 'é😀' } }),
    event({ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'write', arguments: '' } }] } }),
    event({ delta: { tool_calls: [{ index: 0, function: { arguments: JSON.stringify(args) } }] } }),
    event({ delta: {}, finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ].join(''),
)

it('reads the same answer wherever the network splits its bytes', async () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(cuts, async (unordered) => {
      const edges = [0, ...unordered.sort((left, right) => left - right), body.length]
      const pieces = edges.slice(1).map((end, index) => body.slice(edges[index], end))
      const headers = { 'content-type': 'text/event-stream' }
      const fetch = async () => new Response(ReadableStream.from(pieces), { headers })
      const transport = createTransport({ provider: 'custom', baseUrl: 'http://127.0.0.1:1/v1', fetch })
      let last: ModelEvent | undefined
      for await (const next of transport.stream({ model: 'm', messages: [], tools: [] }, { credential: null }))
        last = next
      expect((last as ModelFinish).message.content).toEqual([
        { type: 'text', text: 'é😀' },
        { type: 'tool-call', id: 'c', name: 'write', args, rawArgs: JSON.stringify(args) },
      ])
    }),
  )
})
