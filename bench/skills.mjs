// What 500 skills of one's own cost: looking at them for the first time and again, the first request of a conversation, and loading one; and what
// skills that an agent wrote save when it does the same kinds of tasks again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CONTESTANTS, interleave, ratios, runNode } from './measure.mjs'
import { atLeast, atMost, row } from './report.mjs'
import { writeSkills } from './skills/write-skills.mjs'

const COUNT = 500
const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function skills({ rounds, workspace, server }) {
  const { cold, warm, view, floor } = await measured('process', { rounds, count: COUNT })
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
  const { withSkills, without } = await measured('rounds', {})
  return [
    row(`${COUNT} skills: the first look`, 'ms', cold, atMost(150)),
    row('  a program that only reads their files', 'ms', floor.cold),
    row('  the next look', 'ms', warm, atMost(5)),
    row('  a program that only asks for their facts', 'ms', floor.warm),
    row('  skill_view of an installed one, looked at whole', 'ms', view, atMost(3)),
    row('  a program that only reads and hashes it', 'ms', floor.view),
    row('  first request over SDK loop', 'x', ratios(hermes, sdk), atMost(0.8)),
    row(
      'ten tasks for the second time: calls over the first',
      'x',
      [withSkills.second / withSkills.first],
      atMost(0.5),
    ),
    row('  without skills', 'x', [without.second / without.first], atLeast(1)),
    row('  text of skills in what tools gave', '%', [withSkills.share], atMost(10)),
  ]
}

/** What a program of this folder measures from the sources of the packages, in a process of its own. */
async function measured(name, options) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const program = [join(folder, `skills/${name}.mjs`), JSON.stringify(options)]
  const args = ['--conditions=@hermes/source', `--import=${loader}`, ...program]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures skills (${name}) ended with ${code}`)
  return JSON.parse(output)
}
