// node process.mjs '{"tokens":…}': compacts one long session, with a model that answers at once, and prints how long each part took
// the first time, in milliseconds.
import { createContextCompressor } from '../../packages/compression/src/index.ts'
import { findRegion } from '../../packages/compression/src/region.ts'
import { budgetsOf } from '../../packages/compression/src/settings.ts'
import { renderTranscript } from '../../packages/compression/src/transcript.ts'
import { verbatimMessages } from '../../packages/compression/src/verbatim.ts'
import { estimateTokens, project } from '../../packages/contracts/src/conversation.ts'

const { tokens } = JSON.parse(process.argv[2])
const WINDOW = 200_000
const SECTIONS = ['Active Task', 'Goal', 'Constraints', 'Completed Actions', 'Current State']
const SUMMARY = SECTIONS.map((title) => `## ${title}\nas it was`).join('\n\n')

const entries = history(tokens)
const state = { entries, provider: 'p', model: 'm', tokens: estimateTokens(project(entries)) }
const request = { ...state, cause: 'threshold', carry: ['- [pending] 1: go on'] }
const engine = createContextCompressor({ windowOf: () => WINDOW, models: [atOnce()] })
let after = 0
const check = await timed(() => engine.isDue(state))
const prepass = await timed(() => {
  const budgets = budgetsOf(WINDOW)
  const { dropped } = findRegion(entries, budgets)
  verbatimMessages(dropped, { carry: request.carry, maxTokens: budgets.words })
  renderTranscript(dropped, WINDOW * 0.6)
})
const whole = await timed(async () => {
  const outcome = await engine.compact(request, { signal: new AbortController().signal })
  if (outcome.type !== 'compacted') throw new Error(outcome.reason)
  after = outcome.entry.tokensAfter
})
console.log(JSON.stringify({ check, prepass, whole, shareOfThreshold: (100 * after) / budgetsOf(WINDOW).threshold }))

async function timed(work) {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** A request now and then, calls of tools with results of 1 to 12 kB between them. */
function history(target) {
  const log = []
  let size = 0
  const add = (message) => {
    size += estimateTokens(message)
    log.push({ type: 'message', message, seq: log.length + 1, atMs: log.length })
  }
  for (let at = 0; size < target; at++) {
    if (at % 12 === 0) add({ role: 'user', content: [{ type: 'text', text: `Request ${at}: look into part ${at}.` }] })
    const args = { command: `cat src/part-${at}.ts` }
    const call = { type: 'tool-call', id: `c${at}`, name: 'terminal', args, rawArgs: JSON.stringify(args) }
    add({ role: 'assistant', content: [{ type: 'text', text: `Looking at ${at}.` }, call], finishReason: 'tool-calls' })
    const text = `export const value${at} = ${Math.sin(at)} // a line of the file\n`.repeat(20 + ((at * 37) % 200))
    add({ role: 'tool', callId: `c${at}`, toolName: 'terminal', content: [{ type: 'text', text }] })
  }
  return log
}

function atOnce() {
  return {
    provider: 'p',
    model: 'small',
    async *stream() {
      const message = { role: 'assistant', content: [{ type: 'text', text: SUMMARY }], finishReason: 'stop' }
      yield { type: 'finish', message, usage: { inputTokens: 0, outputTokens: 0 }, stamp: {} }
    },
  }
}
