// Chats under load: a thousand conversations on a Telegram that is asked for updates, with a model that answers at once.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { GATEWAY, percentile, startService } from './gateway.mjs'
import { ratios } from './measure.mjs'
import { atMost, row } from './report.mjs'

const CHATS = 1_000
const COMMANDS = 200
const SECONDS = 5
const FIRST_RATE = 40
/** What takes longer is not answered. */
const LATE_MS = 60_000
const ME = { id: 1, is_bot: true, first_name: 'Bench', username: 'bench_bot' }

/** Every session is open in the store from the first round on; agents come and go, as there are more chats than agents are kept. */
export async function chats({ rounds, workspace }) {
  const model = await startModel()
  const telegram = await startTelegram(model)
  const watchFile = join(workspace.directory, 'watched')
  const flags = ['--port', '0', '--base-url', model.baseUrl, '-m', 'bench']
  const gateway = await startService(['--import', join(import.meta.dirname, 'chats/watch.mjs'), GATEWAY, ...flags], {
    workspace,
    env: { BENCH_WATCH_FILE: watchFile },
    config: configOf(telegram),
  })
  const all = Array.from({ length: CHATS }, (_, index) => index + 1)
  const samples = { fifty: [], hundred: [], words: [], commands: [], calls: [], bare: [] }
  let unanswered = 0
  const sent = async (perSecond, chatsNow, words) => {
    const times = await Promise.all(
      chatsNow.map(async (chat, index) => {
        await sleep((1_000 * index) / perSecond)
        return telegram.say(chat, words)
      }),
    )
    unanswered += times.filter((time) => time === null).length
    return percentile(
      times.map((time) => time ?? LATE_MS),
      0.95,
    )
  }
  try {
    await sent(FIRST_RATE, all, 'hello')
    gateway.child.kill('SIGWINCH')
    for (let round = 0; round < rounds; round++) {
      const from = (count) => Array.from({ length: count }, (_, index) => all[(round * 97 + index) % CHATS])
      samples.fifty.push(await sent(50, from(50 * SECONDS), 'hello'))
      samples.hundred.push(await sent(100, from(100 * SECONDS), 'hello'))
      samples.words.push(await sent(Number.POSITIVE_INFINITY, from(COMMANDS), 'hello'))
      samples.bare.push(await spawned())
      samples.commands.push(await sent(Number.POSITIVE_INFINITY, from(COMMANDS), 'run'))
      await sent(Number.POSITIVE_INFINITY, from(COMMANDS), 'run together')
      samples.calls.push(percentile(model.takeCalls(), 0.95))
    }
    await gateway.stop()
    const { peakMb, heldMs } = JSON.parse(readFileSync(watchFile, 'utf8'))
    return [
      row(`chats, ${CHATS} sessions, 50 messages a second: own time, p95`, 'ms', samples.fifty, atMost(15)),
      row('  100 messages a second: own time, p95', 'ms', samples.hundred, atMost(100)),
      row(`${COMMANDS} chats that are answered at once, p95`, 'ms', samples.words),
      row(`${COMMANDS} bare spawns at once, p95`, 'ms', samples.bare),
      row(`${COMMANDS} chats that run a command at once, p95`, 'ms', samples.commands),
      row('  over the bare spawns', 'x', ratios(samples.commands, samples.bare), atMost(1.5)),
      row(`  of ${COMMANDS} whose calls come at once: from the calls to the result, p95`, 'ms', samples.calls),
      row('  over the bare spawns', 'x', ratios(samples.calls, samples.bare), atMost(1.5)),
      row('messages that were not answered', '', [unanswered], atMost(0)),
      row('gateway with chats: the event loop is held, p99', 'ms', [heldMs], atMost(50)),
      row('gateway with chats: peak memory', 'MB', [peakMb], atMost(600)),
    ]
  } finally {
    await gateway.stop()
    model.close()
    telegram.close()
  }
}

const configOf = ({ url, token }) => ({
  platforms: { telegram: { token, base_url: url, allow_all_users: true } },
  streaming: { enabled: false },
  terminal: { isolation: 'off' },
})

/** The 95th percentile of as many bare shells, started at once. */
async function spawned() {
  const startedMs = performance.now()
  const run = async () => {
    await once(spawn('/bin/bash', ['--norc', '--noprofile', '-c', 'true'], { stdio: 'ignore' }), 'exit')
    return performance.now() - startedMs
  }
  return percentile(await Promise.all(Array.from({ length: COMMANDS }, run)), 0.95)
}

async function listening(answer) {
  const server = createServer((request, response) => answer(request, response).catch(() => response.destroy()))
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}

/**
 * Answers at once, `run` by a command first, which `run together` calls for only once all ask; knows how long it had each message in its hands, and
 * how long those calls took until their result was sent.
 */
async function startModel() {
  const tookMs = new Map()
  const calls = []
  let together = Promise.withResolvers()
  let [waiting, calledMs] = [0, 0]
  const allCalled = () => {
    if (++waiting === COMMANDS) {
      calledMs = performance.now()
      together.resolve()
      together = Promise.withResolvers()
      waiting = 0
    } else return together.promise
  }
  const { url, close } = await listening(async (request, response) => {
    const startedMs = performance.now()
    const { model, messages } = await json(request)
    const last = messages.at(-1)
    const words = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '')
    const [marker = ''] = /#\d+-\d+\./.exec(words) ?? []
    const runs = last.role === 'user' && words.includes('run ')
    const isTogether = words.includes('run together ')
    if (isTogether && !runs) calls.push(performance.now() - calledMs)
    if (isTogether && runs) await allCalled()
    const call = {
      id: `call_${marker}`,
      type: 'function',
      function: { name: 'terminal', arguments: '{"command":"true"}' },
    }
    const delta = runs ? { tool_calls: [{ index: 0, ...call }] } : { content: `answer ${marker}` }
    const base = { id: 'chat', object: 'chat.completion.chunk', created: 1, model }
    const pieces = [
      { ...base, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] },
      { ...base, choices: [{ index: 0, delta: {}, finish_reason: runs ? 'tool_calls' : 'stop' }] },
      { ...base, choices: [], usage: { prompt_tokens: 1000, completion_tokens: 5, total_tokens: 1005 } },
    ]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('')}data: [DONE]\n\n`)
    tookMs.set(marker, (tookMs.get(marker) ?? 0) + performance.now() - startedMs)
  })
  const takeCalls = () => calls.splice(0)
  return { baseUrl: `${url}/v1`, tookMs, takeCalls, close }
}

/** Of the Bot API what a gateway needs that polls. */
async function startTelegram({ tookMs }) {
  const token = `1:${randomBytes(17).toString('hex')}`
  const waiting = new Map()
  let updates = []
  let [ids, polled] = [0, () => {}]
  const methods = {
    getMe: () => ME,
    getUpdates: async ({ offset = 0, timeout = 0 }) => {
      updates = updates.filter(({ update_id: id }) => id >= offset)
      if (updates.length === 0)
        await Promise.race([
          new Promise((resolve) => {
            polled = resolve
          }),
          sleep(timeout * 1_000, undefined, { ref: false }),
        ])
      return updates.slice(0, 100)
    },
    sendMessage: ({ chat_id: id, text: shown }) => {
      waiting.get(Number(id))?.(shown)
      return { message_id: ++ids, date: 1, chat: { id: Number(id), type: 'private' }, from: ME, text: shown }
    },
  }
  const { url, close } = await listening(async (request, response) => {
    const [, method] = /^\/bot[^/]+\/(\w+)$/.exec(request.url) ?? []
    const payload = JSON.parse((await text(request)) || '{}')
    const result = (await methods[method]?.(payload)) ?? true
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, result }))
  })
  /** Milliseconds until the answer is sent, less those of the model; `null` where none comes. */
  const say = async (chat, words) => {
    const marker = `#${chat}-${++ids}.`
    const startedMs = performance.now()
    const answered = new Promise((resolve) => {
      waiting.set(chat, (shown) => shown.includes(marker) && resolve(performance.now() - startedMs))
    })
    const from = { id: chat, is_bot: false, first_name: `P${chat}` }
    const message = {
      message_id: ++ids,
      date: 1,
      from,
      chat: { id: chat, type: 'private' },
      text: `${words} ${marker}`,
    }
    updates.push({ update_id: ++ids, message })
    polled()
    const ms = await Promise.race([answered, sleep(LATE_MS, null, { ref: false })])
    return ms === null ? null : ms - (tookMs.get(marker) ?? 0)
  }
  return { url, token, say, close }
}
