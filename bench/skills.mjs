// What 500 skills of one's own cost: looking at them for the first time and again, the first request of a conversation, and loading one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CONTESTANTS, interleave, ratios, runNode } from './measure.mjs'
import { atMost, row } from './report.mjs'
import { writeSkills } from './skills/write-skills.mjs'

const COUNT = 500
const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function skills({ rounds, workspace, server }) {
  const loader = join(folder, '../packages/storage/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`]
  const program = [...args, join(folder, 'skills/process.mjs'), JSON.stringify({ rounds, count: COUNT })]
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures skills ended with ${code}`)
  const { cold, warm, view } = JSON.parse(output)
  const home = join(workspace.directory, 'with-skills')
  writeSkills(join(home, '.hermes/skills'), COUNT)
  const first = async (contestant, options) => {
    await server.script({ turns: 0, calls: [], text: 'All read.' })
    const { startedMs } = await runNode(contestant, { workspace, ...options })
    return (await server.requests())[0].atMs - startedMs
  }
  const { sdk, hermes } = await interleave(rounds, {
    sdk: () => first(CONTESTANTS.sdk(server.baseUrl)),
    hermes: () => first(CONTESTANTS.hermes(server.baseUrl), { home }),
  })
  return [
    row(`${COUNT} skills: the first look`, 'ms', cold, atMost(150)),
    row('  the next one', 'ms', warm, atMost(5)),
    row('  skill_view of an installed one, looked at whole', 'ms', view, atMost(3)),
    row('  first request over SDK loop', 'x', ratios(hermes, sdk), atMost(0.8)),
  ]
}
