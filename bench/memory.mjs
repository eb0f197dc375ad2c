// How much memory a conversation takes at its most, by its length, and pi's beside it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTESTANTS, interleave, ratios, runNode } from './measure.mjs'
import { peerFolder } from './peers.mjs'
import { atMost, row } from './report.mjs'

const MIB = 2 ** 20
const PI = '@mariozechner/pi-coding-agent'

/** @param {{ rounds: number, workspace: { directory: string, cwd: string }, server: Awaited<ReturnType<typeof import('./model-server.mjs').startServer>> }} options */
export async function memory({ rounds, workspace, server }) {
  const files = smallFiles(workspace.directory)
  const peak = async (args, turns, tool = 'read_file') => {
    const calls = files.slice(0, turns).map((path) => ({ tool, args: { path } }))
    await server.script({ turns, calls, text: 'All read.' })
    const { peakBytes } = await runNode(args, { workspace, measureMemory: true })
    const count = (await server.requests()).length
    if (count !== turns + 1) throw new Error(`expected ${turns + 1} requests, got ${count}`)
    return peakBytes / MIB
  }
  const hermes = [...CONTESTANTS.hermes(server.baseUrl), '--max-turns', '600']
  const pi = piCommand(workspace, server.baseUrl)
  const samples = await interleave(Math.min(rounds, 3), {
    short: () => peak(hermes, 50),
    long: () => peak(hermes, 500),
    ...(pi ? { pi: () => peak(pi, 50, 'read') } : {}),
  })
  return [
    row('peak memory: 50 turns', 'MiB', samples.short, atMost(110)),
    row('peak memory: 500 turns', 'MiB', samples.long),
    row('  over 50 turns', 'x', ratios(samples.long, samples.short), atMost(1.15)),
    ...(pi
      ? [
          row('peak memory: pi, 50 turns', 'MiB', samples.pi),
          row('  hermes over pi', 'x', ratios(samples.short, samples.pi), atMost(1)),
        ]
      : []),
  ]
}

function smallFiles(directory) {
  const folder = join(directory, 'workspace', 'notes')
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: 500 }, (_, index) => {
    const path = join(folder, `${index}.txt`)
    writeFileSync(
      path,
      `Note ${index}: the shop on the corner opens at ${index % 24} o'clock and closes an hour later.\n`,
    )
    return path
  })
}

/** Pi asking the same server; its settings lie in the home of the run. `null` where it is not installed. */
function piCommand({ directory }, baseUrl) {
  const folder = peerFolder(PI)
  if (folder === null) return null
  const settings = join(directory, 'home', '.pi', 'agent')
  mkdirSync(settings, { recursive: true })
  const models = [{ id: 'bench', contextWindow: 200_000 }]
  const provider = { baseUrl, api: 'openai-completions', apiKey: 'none', models }
  writeFileSync(join(settings, 'models.json'), JSON.stringify({ providers: { bench: provider } }))
  return [join(folder, 'dist/cli.js'), '--provider', 'bench', '--model', 'bench', '--offline', '-p', 'Read the notes.']
}
