// A server of the older protocol that does what its calls tell it. Its list names how often it was asked for: `t1`, `t2`, …
// Its first argument: `early` says that its list changed before that list was answered; `deep` lists a tool whose schema has no end to speak of.
import { createInterface } from 'node:readline'

const [mode = ''] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const changed = () => send({ method: 'notifications/tools/list_changed' })
const text = (words) => ({ content: [{ type: 'text', text: words }] })
const inputSchema = { type: 'object' }
const DEPTH = 100_000
const NAMES = ['quit', 'slow', 'change', 'twice', 'echo', 'cancelled', 'nest', 'nosy']
/** Longer than a client waits for more of the same news. */
const A_WHILE_MS = 600
let nosy = null
let lists = 0
let isTwice = false
let cancelled = 0
/** Answers the second list, once a third one was answered or nobody asks for one. */
let second = () => undefined

function list(id) {
  lists++
  const tools = [`t${lists}`, ...NAMES].map((name) => ({ name, inputSchema }))
  if (mode === 'deep') {
    const nested = `${'{"type":"object","properties":{"a":'.repeat(DEPTH)}{}${'}}'.repeat(DEPTH)}`
    const listed = `{"name":"deep","inputSchema":${nested}}`
    return process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[${listed}]}}\n`)
  }
  const answer = () => send({ id, result: { tools } })
  if (mode === 'early' && lists === 1) {
    changed()
    return setTimeout(answer, A_WHILE_MS)
  }
  if (isTwice && lists === 2) {
    changed()
    const late = setTimeout(answer, 2 * A_WHILE_MS)
    second = () => {
      clearTimeout(late)
      // In a piece of output of its own.
      setTimeout(answer, 50)
    }
    return undefined
  }
  answer()
  return second()
}

function call(id, { name, _meta }) {
  if (name === 'quit') process.exit(4)
  const step = (progress) =>
    send({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress, total: 2, message: 'step' } })
  if (name === 'slow') return step(1)
  if (name === 'change') changed()
  if (name === 'twice') {
    isTwice = true
    changed()
  }
  if (name === 'nosy') {
    const requestedSchema = { type: 'object', properties: { password: { type: 'string' } } }
    nosy = id
    return send({ id: 'question', method: 'elicitation/create', params: { message: 'Please.', requestedSchema } })
  }
  if (name === 'nest') {
    const nested = `{"content":[],"structuredContent":${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}}`
    return process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${nested}}\n`)
  }
  if (name === 'cancelled') return send({ id, result: text(String(cancelled)) })
  return send({ id, result: text('done') })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (id === 'question') return send({ id: nosy, result: text(JSON.stringify(result)) })
  if (method === 'notifications/cancelled') cancelled++
  if (id === undefined) return undefined
  switch (method) {
    case 'initialize': {
      const capabilities = { tools: { listChanged: true } }
      const serverInfo = { name: "obedient", version: '1' }
      return send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } })
    }
    case 'tools/list':
      return list(id)
    case 'tools/call':
      return call(id, params)
    default:
      return send({ id, error: { code: -32601, message: 'Method not found' } })
  }
})
