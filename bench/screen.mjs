// A conversation in a real terminal: how soon it takes a line, what it costs at rest, and how it shows a model that writes fast.
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BIN, interleave, ratios, scratchEnvironment } from './measure.mjs'
import { openTerminal } from './pty.mjs'
import { atMost, row } from './report.mjs'
import { run } from './store.mjs'

/** What a long session holds. */
const LONG = { session: 'long', count: 2_000 }
const TOKENS_PER_SECOND = 200
const STREAMED_MS = 10_000
const IDLE_MS = 5_000
/** A line is there: keys are shown, and kept. */
const PASTE_ON = '\u001B[?2004h'
const PASTED = `\u001B[200~${'a line of what is pasted\n'.repeat(40_000)}\u001B[201~`
/** `CLK_TCK` of Linux. */
const TICKS_PER_SECOND = 100
/** What the first second has beside text: the frame of the question, and code that is loaded. */
const SETTLED_MS = 1_000

/** Prompt, rest, a fast model and a long paste. */
export async function screen({ rounds, workspace, server }) {
  const model = await startFastModel()
  const hermes = (url) => [BIN, '--base-url', url, '--provider', 'custom', '-m', 'bench']
  const { HERMES_HOME: home } = scratchEnvironment(workspace)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  await run('append', join(home, 'state.db'), LONG)
  try {
    const { floor, prompt, open, long, rest, fast, paste } = await interleave(Math.min(rounds, 3), {
      floor: () => timeTo(workspace, [join(import.meta.dirname, 'floors/echo.mjs')], 'ready'),
      prompt: () => timeTo(workspace, hermes(server.baseUrl), PASTE_ON),
      open: () => timeTo(workspace, hermes(server.baseUrl), '/help'),
      long: () => timeTo(workspace, [...hermes(server.baseUrl), '-r', LONG.session], '/help'),
      rest: () => within(workspace, hermes(server.baseUrl), restCost),
      fast: () => within(workspace, hermes(model.url), (terminal) => fastStream(terminal, model)),
      paste: () => within(workspace, hermes(server.baseUrl), timePaste),
    })
    const of = (key) => fast.map((sample) => sample[key])
    return [
      row('a line to type in: bare program', 'ms', floor),
      row('a line to type in: hermes', 'ms', prompt),
      row('  over the bare program', 'x', ratios(prompt, floor), atMost(2)),
      row('  until its session is open', 'ms', open),
      row('  until a session of 2,000 messages is', 'ms', long),
      row(
        '    of that, for the messages',
        'ms',
        long.map((ms, index) => ms - open[index]),
        atMost(150),
      ),
      row('a conversation at rest, of one core', '%', rest, atMost(0.5)),
      row('200 tokens a second: bytes per byte of text', 'x', of('ratio'), atMost(3)),
      row('  the longest time without a frame', 'ms', of('gapMs'), atMost(50)),
      row('  memory at the end over that after a second', 'x', of('growth'), atMost(1.15)),
      row('1 MB pasted, until its sign is shown', 'ms', paste, atMost(200)),
    ]
  } finally {
    model.close()
  }
}

async function timeTo(workspace, args, sign) {
  const startedMs = performance.now()
  const terminal = openTerminal(workspace, args)
  try {
    await terminal.shows(sign)
    return performance.now() - startedMs
  } finally {
    await terminal.close()
  }
}

/** Does something in a conversation that takes a line. */
async function within(workspace, args, work) {
  const terminal = openTerminal(workspace, args)
  try {
    await terminal.shows('/help')
    await sleep(SETTLED_MS)
    return await work(terminal)
  } finally {
    await terminal.close()
  }
}

async function restCost(terminal) {
  const before = processorMs(programOf(terminal))
  await sleep(IDLE_MS)
  return (100 * (processorMs(programOf(terminal)) - before)) / IDLE_MS
}

async function timePaste(terminal) {
  const shown = terminal.shows('[Pasted')
  const startedMs = performance.now()
  terminal.type(PASTED)
  await shown
  return performance.now() - startedMs
}

/** Frames are what the terminal was written; the time before the first and after the last token does not count. */
async function fastStream(terminal, model) {
  let bytes = 0
  let lastMs = 0
  let gapMs = 0
  let isCounting = false
  terminal.watch((text) => {
    bytes += Buffer.byteLength(text)
    const nowMs = performance.now()
    if (isCounting) gapMs = Math.max(gapMs, nowMs - lastMs)
    lastMs = nowMs
  })
  const done = terminal.shows('the-end')
  terminal.type('Write.\r')
  await model.begun()
  await sleep(SETTLED_MS)
  isCounting = true
  const early = memory(programOf(terminal))
  await sleep(STREAMED_MS - 2 * SETTLED_MS)
  isCounting = false
  const late = memory(programOf(terminal))
  await done
  return { ratio: bytes / model.textBytes(), gapMs, growth: late / early }
}

/** A model that writes 200 words a second, in paragraphs with Markdown. */
async function startFastModel() {
  let textBytes = 0
  let begin = Promise.withResolvers()
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    textBytes = 0
    const base = { id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'bench' }
    const send = (delta, finish_reason = null) =>
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`)
    const say = (content) => {
      textBytes += Buffer.byteLength(content)
      send({ role: 'assistant', content })
    }
    begin.resolve()
    const startedMs = performance.now()
    const count = (STREAMED_MS * TOKENS_PER_SECOND) / 1_000
    for (let token = 0; token < count && !response.destroyed; token++) {
      say(token % 60 === 59 ? '\n\n' : token % 17 === 0 ? '**bold** ' : `word${token} `)
      const aheadMs = startedMs + (token * 1_000) / TOKENS_PER_SECOND - performance.now()
      if (aheadMs > 0) await sleep(aheadMs)
    }
    say('the-end')
    send({}, 'stop')
    response.end('data: [DONE]\n\n')
    begin = Promise.withResolvers()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    begun: () => begin.promise,
    textBytes: () => textBytes,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The program below `script` and its shell. */
function programOf({ pid }) {
  const children = (of) => readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').trim().split(' ').filter(Boolean)
  let at = pid
  for (let [child] = children(at); child !== undefined; [child] = children(at)) at = child
  return at
}

function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
}

/** Bytes of memory that the process has now. */
function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024
}
