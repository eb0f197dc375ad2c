// What is measured. Each scenario gives rows; a limit on a ratio compares medians of one run on one machine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { installTarballs, measureInstall, packAll, publicPackages } from '../scripts/packing.mjs'
import { BIN, CONTESTANTS, interleave, ratios, runNode } from './measure.mjs'
import { prefixLines, prefixStability } from './prefix.mjs'
import { promptBudget, weigh } from './prompt-budget.mjs'
import { atLeast, atMost, row } from './report.mjs'

const MIB = 2 ** 20

/** One turn a file: who is asked for the same file again may well answer that it has not changed. */
const readEach = (files) => ({
  turns: files.length,
  calls: files.map((path) => ({ tool: 'read_file', args: { path } })),
  text: 'All read.',
})

/** `hermes --version` against Node doing nothing. */
export async function versionStart({ rounds, workspace }) {
  const wall = async (args) => (await runNode(args, { workspace })).wallMs
  const { node, version } = await interleave(rounds, {
    node: () => wall(['-e', '0']),
    version: () => wall([BIN, '--version']),
  })
  return [
    row('node -e 0', 'ms', node),
    row('hermes --version', 'ms', version),
    row('  over node', 'x', ratios(version, node), atMost(1.3)),
  ]
}

/** From the start of the process to the arrival of its first request. */
export async function firstRequest({ rounds, workspace, server }) {
  const first = async (args, options) => {
    await server.script(readEach([]))
    const { startedMs } = await runNode(args, { workspace, ...options })
    return (await server.requests())[0].atMs - startedMs
  }
  const { bare, sdk, hermes, cold } = await interleave(rounds, {
    bare: () => first(CONTESTANTS.bare(server.baseUrl)),
    sdk: () => first(CONTESTANTS.sdk(server.baseUrl)),
    hermes: () => first(CONTESTANTS.hermes(server.baseUrl)),
    cold: (round) => first(CONTESTANTS.hermes(server.baseUrl), { home: join(workspace.directory, `cold-${round}`) }),
  })
  return [
    row('first request: bare loop', 'ms', bare),
    row('first request: SDK loop', 'ms', sdk),
    row('first request: hermes', 'ms', hermes),
    row('  over SDK loop', 'x', ratios(hermes, sdk), atMost(0.8)),
    row('first request: hermes, new home and no compile cache', 'ms', cold),
    row('  over SDK loop', 'x', ratios(cold, sdk)),
  ]
}

/** Fifty turns that each read a file, every message durable in Hermes' case; time per turn and peak memory. */
export async function toolSteps({ rounds, workspace, server }) {
  const { files } = workspace
  const turns = async (args) => {
    await server.script(readEach(files))
    const { peakBytes } = await runNode(args, { workspace, measureMemory: true })
    const requests = await server.requests()
    if (requests.length !== files.length + 1)
      throw new Error(`expected ${files.length + 1} requests, got ${requests.length}`)
    return { turnMs: (requests.at(-1).atMs - requests[0].atMs) / files.length, peakMib: peakBytes / MIB }
  }
  const samples = await interleave(rounds, {
    bare: () => turns(CONTESTANTS.bare(server.baseUrl)),
    sdk: () => turns(CONTESTANTS.sdk(server.baseUrl)),
    hermes: () => turns(CONTESTANTS.hermes(server.baseUrl)),
  })
  const of = (name, key) => samples[name].map((sample) => sample[key])
  return [
    row('tool turn: bare loop', 'ms', of('bare', 'turnMs')),
    row('tool turn: SDK loop', 'ms', of('sdk', 'turnMs')),
    row('tool turn: hermes', 'ms', of('hermes', 'turnMs')),
    row('  over SDK loop', 'x', ratios(of('hermes', 'turnMs'), of('sdk', 'turnMs')), atMost(1.3)),
    row('peak memory: bare loop', 'MiB', of('bare', 'peakMib')),
    row('peak memory: SDK loop', 'MiB', of('sdk', 'peakMib')),
    row('peak memory: hermes', 'MiB', of('hermes', 'peakMib')),
    row('  over SDK loop', 'x', ratios(of('hermes', 'peakMib'), of('sdk', 'peakMib')), atMost(1.3)),
  ]
}

/** The same turns as two runs of one session: what the prefix keeps, and what the first request weighs. */
export async function prefixAndWeight({ workspace, server }) {
  const home = join(workspace.directory, 'prefix')
  const bodies = []
  const half = workspace.files.length / 2
  for (const [index, more] of [[], ['-c']].entries()) {
    const files = workspace.files.slice(index * half, (index + 1) * half)
    await server.script(readEach(files))
    await runNode(CONTESTANTS.hermes(server.baseUrl, ...more), { workspace, home })
    bodies.push(...(await server.requests()).map((request) => request.body))
  }
  const { pairs, kept, broken } = prefixStability(bodies)
  for (const { request, line } of broken)
    console.log(
      `prefix: request ${request} changed ${prefixLines(bodies[request])[line]?.slice(0, 100) ?? `line ${line}`}`,
    )
  return [
    row(`prefix kept over ${pairs} requests and a resume`, '%', [(100 * kept) / pairs], atLeast(100)),
    ...weight(bodies[0]),
  ]
}

function weight(body) {
  const { rows, totalKb, strangers } = weigh(body)
  return [
    row('prompt and schemas', 'kB', [totalKb], atMost(promptBudget().totalKb)),
    row('  tools that no row of its budget has', '', [strangers.length], atMost(0)),
    ...rows.flatMap(({ name, kB, limitKb, parts }) => [
      row(`  ${name}`, 'kB', [kB], atMost(limitKb)),
      ...parts.map((part) => row(`    ${part.name}`, 'kB', [part.kB])),
    ]),
  ]
}

/** What `npm install @hermes/cli` puts on the disk. */
export async function installedSize() {
  const directory = mkdtempSync(join(tmpdir(), 'hermes-size-'))
  try {
    const cli = publicPackages().filter(({ name }) => name === '@hermes/cli')
    const tarballs = packAll(cli, directory)
    installTarballs({
      directory: join(directory, 'cli'),
      names: ['@hermes/cli'],
      tarballs,
      path: dirname(process.execPath),
    })
    const { bytes, packages } = measureInstall(join(directory, 'cli'))
    return [
      row('installed CLI', 'MB', [bytes / 1e6], atMost(55)),
      row('installed packages', '', [packages.length], atMost(25)),
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}
