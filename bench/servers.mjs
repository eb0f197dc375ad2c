// What servers and plugins of others cost: a call of an MCP server beside the bare SDK, a hook in the process of a plugin, and the first request of a
// home that has many of both.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { BIN, CONTESTANTS, interleave, ratios, runNode } from './measure.mjs'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname

const SERVER = join(folder, '../packages/runtime/src/__fixtures__/mcp-server.mjs')
const PLUGINS = ['word-count', 'shelf', 'push-guard']

const program = (mode) => ({ command: process.execPath, args: [SERVER, mode] })
const GOOD = Array.from({ length: 18 }, (_, at) => [`good${at}`, program('good')])
/** Twenty, of which one is no program and one never answers. */
const TWENTY = { ...Object.fromEntries(GOOD), dead: { command: '/no/such/program' }, slow: program('hang') }

/** A home with the plugins of examples/plugins and these servers. */
async function makeCrowdedHome(workspace, name, mcp_servers) {
  const home = join(workspace.directory, name)
  for (const plugin of PLUGINS)
    await runNode([BIN, 'plugins', 'install', join(folder, '../examples/plugins', plugin), '--enable'], {
      workspace,
      home,
    })
  mkdirSync(join(home, '.hermes'), { recursive: true })
  writeFileSync(join(home, '.hermes/config.yaml'), JSON.stringify({ mcp_servers }))
  // What good ones offer is known from before, as it is in a home that is used.
  for (const name of Object.keys(mcp_servers).filter((one) => one.startsWith('good')))
    await runNode([BIN, 'mcp', 'test', name], { workspace, home })
  return home
}

/** How long it is from the start of a program to its request. */
async function crowdedFirst({ rounds, workspace, server }) {
  const home = await makeCrowdedHome(workspace, 'crowded', TWENTY)
  const alone = await makeCrowdedHome(workspace, 'alone', {})
  const first = async (contestant, options) => {
    await server.script({ turns: 0, calls: [], text: 'All read.' })
    const { startedMs } = await runNode(contestant, { workspace, ...options })
    return (await server.requests())[0].atMs - startedMs
  }
  return interleave(rounds, {
    sdk: () => first(CONTESTANTS.sdk(server.baseUrl)),
    hermes: () => first(CONTESTANTS.hermes(server.baseUrl), { home }),
    alone: () => first(CONTESTANTS.hermes(server.baseUrl), { home: alone }),
  })
}

/** @param {{ rounds: number }} options */
export async function servers({ rounds, workspace, server }) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const program = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'servers/process.mjs')]
  const child = spawn(process.execPath, [...program, JSON.stringify({ rounds })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures servers ended with ${code}`)
  const { call, hook, echo } = JSON.parse(output)
  const { sdk, hermes, alone } = await crowdedFirst({ rounds, workspace, server })
  return [
    row(
      'MCP: a call through registry, policy and durable log, 64 at once, over the bare SDK',
      'ms',
      call,
      atMost(0.15),
    ),
    row('a hook in the process of a plugin, p95', 'ms', hook, atMost(0.5)),
    row('  over a bare process that writes lines back', 'x', ratios(hook, echo)),
    row('first request with 3 plugins and 20 servers, one dead and one slow', 'ms', hermes),
    row('  over SDK loop', 'x', ratios(hermes, sdk), atMost(0.8)),
    row(
      '  what it waits for servers: over the same home without any',
      'ms',
      hermes.map((ms, round) => ms - alone[round]),
      atMost(20),
    ),
  ]
}
