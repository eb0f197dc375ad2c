// One process of the bench of the wires, started with the sources: node process.mjs ROUNDS. Prints one line of JSON: milliseconds that the
// SDK of each wire takes for a recorded stream, those that our transport takes for the same bytes, and those of repairing a conversation.
import { registerHooks } from 'node:module'

const transports = new URL('../../packages/transports/src/index.ts', import.meta.url).href
// The SDKs are the ones that the transports use.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      /^(?:openai|@anthropic-ai|@aws-sdk)/.test(specifier) ? { ...context, parentURL: transports } : context,
    ),
})
const { startModelServer } = await import('../../packages/testkit/src/index.ts')
const { createTransport } = await import(transports)
const { repairConversation } = await import('../../packages/contracts/src/conversation.ts')
const { createFetchHandler } = await import('../../packages/transports/src/wires/bedrock-converse/fetch-handler.ts')
const sdks = ['openai', '@anthropic-ai/sdk', '@aws-sdk/client-bedrock-runtime'].map((name) => import(name))
const [{ default: OpenAI }, { default: Anthropic }, { BedrockRuntimeClient, ConverseStreamCommand }] =
  await Promise.all(sdks)

const rounds = Number(process.argv[2])
const CALLS_PER_ROUND = 15
const PIECE_BYTES = 1_400
const TURN = {
  reasoning: 'Let me think about what was asked. '.repeat(100),
  text: 'The quick brown fox jumps over the lazy dog, again. '.repeat(400),
  toolCalls: [{ name: 'look', args: { path: 'notes.txt', lines: 'all of them, please '.repeat(50) } }],
  chunkSize: 12,
}
const messages = [{ role: 'user', content: 'Go.' }]
const conversation = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }]
const AT = 'http://127.0.0.1:9'

const WIRES = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: { model: 'm', messages, stream: true },
    transport: { provider: 'custom', baseUrl: `${AT}/v1` },
    sdk: (fetch) => {
      const client = new OpenAI({ apiKey: 'x', baseURL: `${AT}/v1`, fetch })
      return () => client.chat.completions.create({ model: 'm', messages, stream: true })
    },
    textOf: (chunk) => chunk.choices[0]?.delta.content,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', input: messages, stream: true },
    transport: { provider: 'openai', baseUrl: `${AT}/v1`, api: 'responses' },
    sdk: (fetch) => {
      const client = new OpenAI({ apiKey: 'x', baseURL: `${AT}/v1`, fetch })
      return () => client.responses.create({ model: 'm', input: messages, stream: true })
    },
    textOf: (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
  },
  'anthropic messages': {
    path: '/v1/messages',
    body: { model: 'm', messages, max_tokens: 9, stream: true },
    transport: { provider: 'anthropic', baseUrl: AT },
    sdk: (fetch) => {
      const client = new Anthropic({ apiKey: 'x', baseURL: AT, fetch })
      return () => client.messages.create({ model: 'm', messages, max_tokens: 9, stream: true })
    },
    textOf: (event) => event.delta?.text,
  },
  'bedrock converse': {
    path: '/model/m/converse-stream',
    body: { messages: [{ role: 'user', content: [{ text: 'Go.' }] }] },
    transport: { provider: 'bedrock', baseUrl: AT },
    sdk: (fetch) => {
      const requestHandler = createFetchHandler({ fetch, headers: {}, timeoutMs: 60_000, secrets: [] })
      const options = {
        endpoint: AT,
        region: 'us-east-1',
        token: { token: 'x' },
        authSchemePreference: ['httpBearerAuth'],
      }
      const client = new BedrockRuntimeClient({ ...options, requestHandler })
      const input = { modelId: 'm', messages: [{ role: 'user', content: [{ text: 'Go.' }] }] }
      return async () => (await client.send(new ConverseStreamCommand(input))).stream
    },
    textOf: (event) => event.contentBlockDelta?.delta.text,
  },
}

const results = {}
for (const [name, wire] of Object.entries(WIRES)) results[name] = await measureWire(wire)
console.log(JSON.stringify({ wires: results, repairMs: measureRepair() }))

async function measureWire(wire) {
  const recorded = await record(wire)
  const fetch = async () => new Response(inPieces(recorded.bytes), { headers: recorded.headers })
  const call = wire.sdk(fetch)
  const transport = createTransport({ ...wire.transport, fetch })
  const bySdk = async () => {
    let text = ''
    for await (const event of await call()) text += wire.textOf(event) ?? ''
    return text
  }
  const byUs = async () => {
    let text = ''
    for await (const event of transport.stream({ model: 'm', messages: conversation, tools: [] }, { credential: 'x' }))
      if (event.type === 'text-delta') text += event.text
    return text
  }
  const times = { sdk: [], ours: [] }
  for (let round = -1; round < rounds; round++) {
    const [sdk, ours] = [await timed(bySdk), await timed(byUs)]
    // The first warms up.
    if (round < 0) continue
    times.sdk.push(sdk)
    times.ours.push(ours)
  }
  return times
}

/** Milliseconds of the processor for one call, over several: others on the machine do not count. */
async function timed(call) {
  const before = process.cpuUsage()
  for (let count = 0; count < CALLS_PER_ROUND; count++)
    if ((await call()) !== TURN.text) throw new Error('The stream did not give the text it was recorded with.')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / CALLS_PER_ROUND
}

async function record({ path, body }) {
  const server = await startModelServer([TURN])
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', authorization: 'Bearer x' }
  const response = await fetch(server.anthropicBaseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const bytes = new Uint8Array(await response.arrayBuffer())
  await server.close()
  return { bytes, headers: { 'content-type': response.headers.get('content-type') } }
}

/** As much at a time as a packet of a network holds. */
function inPieces(bytes) {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + PIECE_BYTES))
      at += PIECE_BYTES
    },
  })
}

/** Milliseconds for a conversation of 200 messages, a tenth of its calls without a result. */
function measureRepair() {
  const long = Array.from({ length: 50 }, (_, turn) => [
    { role: 'user', content: [{ type: 'text', text: `Question ${turn}. `.repeat(20) }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', id: `c${turn}`, name: 'look', args: { turn }, rawArgs: `{"turn":${turn}}` }],
    },
    ...(turn % 10
      ? [
          {
            role: 'tool',
            callId: `c${turn}`,
            toolName: 'look',
            content: [{ type: 'text', text: 'Found. '.repeat(200) }],
          },
        ]
      : []),
    { role: 'assistant', content: [{ type: 'text', text: `Answer ${turn}. `.repeat(50) }] },
  ]).flat()
  const times = []
  for (let round = -20; round < rounds * 20; round++) {
    // What was repaired before is known by its identity, so each time it is another conversation.
    const fresh = structuredClone([...long, ...long.slice(0, 200 - long.length)])
    const startedAtMs = performance.now()
    repairConversation(fresh)
    if (round >= 0) times.push(performance.now() - startedAtMs)
  }
  return times
}
