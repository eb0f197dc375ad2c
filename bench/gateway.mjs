// The gateway under load: what it adds to the time of the model behind it, and the memory it takes.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { interleave, ratios, scratchEnvironment } from './measure.mjs'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
export const GATEWAY = join(folder, '../apps/gateway/dist/bin.js')
const KEY = 'the-key-of-the-bench'
const STREAMS = 50
const TURNS = 3
// Clients do not start in one instant; they come evenly within the time of one answer.
const SPREAD_MS = 2000
const MIB = 2 ** 20

/** Conversations of three turns side by side, each over its own session, through the gateway and through a bare proxy. */
export async function gatewayLoad({ rounds, workspace }) {
  const model = await startModel()
  const proxy = await startService([join(folder, 'floors/proxy.mjs'), model.baseUrl], { workspace })
  const flags = ['--port', '0', '--base-url', model.baseUrl, '-m', 'bench']
  const gateway = await startService(['--import', join(folder, 'peak.mjs'), GATEWAY, ...flags], { workspace })
  try {
    const samples = await interleave(rounds, {
      proxy: (round) => ownTimes(proxy.baseUrl, { model, round: `p${round}` }),
      gateway: (round) => ownTimes(gateway.baseUrl, { model, round: `g${round}` }),
    })
    await gateway.stop()
    const peakMib = Number(readFileSync(join(workspace.directory, 'peak'), 'utf8')) / MIB
    const of = (name, share) => samples[name].map((times) => percentile(times, share))
    return [
      row(`proxy, ${STREAMS} streams: own time, p95`, 'ms', of('proxy', 0.95)),
      row(`gateway, ${STREAMS} streams: own time, p50`, 'ms', of('gateway', 0.5)),
      row(`gateway, ${STREAMS} streams: own time, p95`, 'ms', of('gateway', 0.95), atMost(15)),
      row('  over proxy', 'x', ratios(of('gateway', 0.95), of('proxy', 0.95))),
      row('gateway: peak memory', 'MiB', [peakMib], atMost(200)),
    ]
  } finally {
    model.close()
    await Promise.all([proxy.stop(), gateway.stop()])
  }
}

/** For each request: the time from sending it to the end of its answer, less the time the model took. */
async function ownTimes(baseUrl, { model, round }) {
  const agent = new Agent({ keepAlive: true })
  const taken = {}
  const converse = async (stream) => {
    await sleep((SPREAD_MS * stream) / STREAMS)
    const messages = []
    for (let turn = 0; turn < TURNS; turn++) {
      const marker = `#${round}-${stream}-${turn}.`
      messages.push({ role: 'user', content: `Go on ${marker}` })
      const startedMs = performance.now()
      const answer = await post(`${baseUrl}/chat/completions`, {
        agent,
        body: { model: 'bench', messages, stream: true },
      })
      taken[marker] = performance.now() - startedMs
      messages.push({ role: 'assistant', content: answer })
    }
  }
  await Promise.all(Array.from({ length: STREAMS }, (_, stream) => converse(stream)))
  agent.destroy()
  const times = await model.times()
  return Object.entries(taken).map(([marker, ms]) => ms - times[marker])
}

/** The text of a streamed answer. */
async function post(url, { agent, body }) {
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  const answer = await text(response)
  if (response.statusCode !== 200 || !answer.endsWith('data: [DONE]\n\n'))
    throw new Error(`bad answer ${response.statusCode}: ${answer}`)
  return [...answer.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

async function startModel() {
  const child = fork(join(folder, 'paced-server.mjs'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [{ port }] = await once(child, 'message')
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    times: async () => {
      const answered = once(child, 'message')
      child.send({ type: 'take' })
      return (await answered)[0].times
    },
    // A server that died on the way must not keep the rest from being stopped.
    close: () => child.connected && child.disconnect(),
  }
}

/** A server that prints its address; `config`: the config.yaml of its home. */
export async function startService(args, { workspace, env = {}, config }) {
  const scratch = { ...scratchEnvironment(workspace), BENCH_PEAK_FILE: join(workspace.directory, 'peak') }
  if (config) {
    mkdirSync(scratch.HERMES_HOME, { recursive: true })
    writeFileSync(join(scratch.HERMES_HOME, 'config.yaml'), JSON.stringify(config))
  }
  const child = spawn(process.execPath, args, {
    cwd: workspace.cwd,
    env: { ...scratch, API_SERVER_KEY: KEY, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const [line] = await Promise.race([once(child.stdout, 'data'), closed.then(() => ['nothing'])])
  const [baseUrl] = /http:\S+\/v1/.exec(line) ?? []
  if (!baseUrl) throw new Error(`${args.join(' ')} printed ${line}`)
  return {
    baseUrl,
    child,
    stop: async () => {
      child.kill()
      await closed
    },
  }
}
