// The browser beside a bare Chromium, and beside the browsers of other agents where those are installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { agentBrowser, playwrightMcp } from './browser/peers.mjs'
import { startShop } from './browser/shop.mjs'
import { ratios } from './measure.mjs'
import { peerFolder } from './peers.mjs'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const AWAKE = 4
/** For one process that measures, in ms. */
const timeout = 300_000
const LOADER = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')

/** @param {{ rounds: number, workspace: { cwd: string } }} options @throws Error where there is no Chromium */
export async function browser({ rounds, workspace }) {
  const program = findChromium()
  const shop = await startShop()
  const setting = { rounds, program, url: `http://127.0.0.2:${shop.port}`, port: shop.port, cwd: workspace.cwd }
  try {
    return [...(await cold(setting)), ...(await many(setting)), ...(await besidePeers(setting))]
  } finally {
    shop.close()
  }
}

async function cold({ rounds, program, url, port }) {
  const samples = { ours: [], bare: [] }
  for (let round = 0; round <= rounds; round++) {
    const bare = await node([join(folder, 'browser/bare.mjs'), program, `${url}/list/60`, '1'])
    const ours = await measured({ mode: 'cold', port })
    // The first of each finds cold disks.
    if (round > 0) for (const [name, one] of Object.entries({ ours, bare })) samples[name].push(one.coldMs)
  }
  return [
    row('from nothing to the first page of 60 items', 'ms', samples.ours),
    row('  a bare Chromium and its accessibility tree', 'ms', samples.bare),
    row('  against that', 'x', ratios(samples.ours, samples.bare), atMost(1.3)),
  ]
}

async function many({ program, url, port }) {
  const [one, four] = [
    await node([join(folder, 'browser/bare.mjs'), program, `${url}/list/60`, '1']),
    await node([join(folder, 'browser/bare.mjs'), program, `${url}/list/60`, String(AWAKE)]),
  ]
  const ours = await measured({ mode: 'many', port })
  return [
    row('50 sessions with a page each: memory of browser and process at their peak', 'MB', [ours.peak], atMost(900)),
    row('  a bare Chromium with one context; with four', 'MB', [one.mb, four.mb]),
    row('  of the browser with the four that are awake, against that', 'x', [ours.browser / four.mb], atMost(1.1)),
    row('  sessions awake', '', [ours.awake], atMost(AWAKE)),
  ]
}

async function besidePeers({ rounds, program, url, port, cwd }) {
  const { sixty, thousands } = await measured({ mode: 'lists', port, rounds })
  const { tokens } = await measured({ mode: 'shop', port })
  const peers = await peerFigures({ rounds, program, url, cwd })
  const { looks60 = [], looks2000 = [] } = peers
  return [
    row('a look at 60 items', 'ms', sixty.looks, looks60.length > 0 ? atMost(middle(looks60)) : {}),
    ...(looks60.length > 0 ? [row('  agent-browser, what can be acted on', 'ms', looks60)] : []),
    row('a look at 2,000 items', 'ms', thousands.looks, atMost(120)),
    ...(looks2000.length > 0 ? [row('  agent-browser, what can be acted on', 'ms', looks2000)] : []),
    row('shown of 60 items; of 2,000', 'kB', kilobytes(sixty.shown), atMost(4)),
    row('  of 2,000', 'kB', kilobytes(thousands.shown), atMost(12)),
    row('shown after a click that changes one thing', 'kB', kilobytes(sixty.clickBytes), atMost(1)),
    row('a click, until what it changed is known', 'ms', sixty.clicks, atMost(80)),
    row('tokens of a task on ten pages of a shop', '', [tokens]),
    ...peers.tokens.flatMap(({ name, tokens: theirs }) => [
      row(`  ${name}`, '', [theirs]),
      row('  against that', '%', [(100 * tokens) / theirs], atMost(40)),
    ]),
  ]
}

async function peerFigures({ rounds, program, url, cwd }) {
  const figures = { tokens: [] }
  const ab = peerFolder('agent-browser')
  if (ab !== null) {
    const peer = agentBrowser({ folder: ab, program, cwd })
    try {
      figures.tokens.push({ name: 'agent-browser', tokens: await peer.shop(`${url}/`) })
      for (const [key, path] of [
        ['looks60', '/list/60'],
        ['looks2000', '/list/2000'],
      ]) {
        await peer.call('open', `${url}${path}`)
        figures[key] = []
        for (let round = 0; round < rounds * 3; round++) figures[key].push(await timed(() => peer.look()))
      }
    } finally {
      await peer.close()
    }
  }
  const mcp = peerFolder('@playwright/mcp')
  if (mcp !== null) {
    const peer = await playwrightMcp({ folder: mcp, program, cwd })
    try {
      figures.tokens.push({ name: 'playwright-mcp', tokens: await peer.shop(`${url}/`) })
    } finally {
      await peer.close()
    }
  }
  return figures
}

const kilobytes = (bytes) => bytes.map((one) => one / 1000)
const middle = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const measured = (options) =>
  node([
    '--conditions=@hermes/source',
    `--import=${LOADER}`,
    join(folder, 'browser/process.mjs'),
    JSON.stringify(options),
  ])

async function node(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout, killSignal: 'SIGKILL' })
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures the browser ended with ${signal ?? code}`)
  return JSON.parse(output)
}

function findChromium() {
  const names = ['chromium', 'google-chrome-stable', 'google-chrome', 'chromium-browser']
  const paths = names.flatMap((name) => process.env.PATH.split(delimiter).map((one) => join(one, name)))
  for (const path of paths)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {}
  throw new Error('there is no Chromium on this machine')
}
