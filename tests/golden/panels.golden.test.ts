// What commands show below the conversation or ask there, at three widths as it was recorded: pickers while they are open, and long answers.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapturedRequest, ModelStep } from '@hermes/testkit'
import { it } from 'vitest'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'
import { compareGolden } from './golden.js'
import { createNormaliser } from './normalise.js'

const scene = useScene()
const ROWS = 40
const WIDTHS = [40, 80, 160]
const REST = /\n>$/

/** A line, and what is waited for behind it; `leaves` are keys that end what it asks, once that is recorded. */
interface Panel {
  readonly line: string
  readonly shows: RegExp
  readonly leaves?: readonly string[]
}

const PANELS: readonly Panel[] = [
  { line: '/model', shows: /Which model instead\?[\s\S]*thinker/, leaves: ['Escape'] },
  { line: '/resume', shows: /Which session\?[\s\S]*1\. /, leaves: ['Escape'] },
  { line: '/diff', shows: /new: fresh\.txt\n>$/ },
  { line: '/diff --stat', shows: /1 deletion\(-\)[^>]*>$/ },
  { line: '/goal Water all the plants in the garden, the cactus too.', shows: /Goal reached: all are wet\.[^>]*>$/ },
  { line: '/goal', shows: /reached, 1 of [^>]*>$/ },
  { line: '/usage why', shows: /By model:[^>]*>$/ },
]

let judged = 0

function answer({ body }: CapturedRequest): ModelStep {
  const usage = { inputTokens: 1_000, outputTokens: 10, cacheReadTokens: 900, costUsd: 0.01 }
  if (!JSON.stringify(body.messages[0]).includes('You judge whether an agent')) return { text: 'Done.', usage }
  const verdict =
    judged++ % 2 === 0 ? { verdict: 'continue', reason: 'one is dry.' } : { verdict: 'done', reason: 'all are wet.' }
  return { text: JSON.stringify(verdict), usage }
}

/** The screen behind each line, in a home and a folder of its own. */
async function record(columns: number): Promise<readonly string[]> {
  const [home, cwd] = [join(scene.folder, `user-${columns}`, '.hermes'), join(scene.folder, `shop-${columns}`)]
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(cwd)
  const models = { large: {}, small: {}, 'thinker-with-a-long-name-2026': {} }
  const config = {
    model: { provider: 'lab', default: 'large' },
    providers: { lab: { base_url: scene.server.baseUrl, api_key: 'k', models } },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  await writeFile(join(cwd, 'price.js'), 'export const RATE = 0.19\n\nexport function price(sum) {\n  return sum\n}\n')
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd })
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '--message', 'Begin')
  await writeFile(
    join(cwd, 'price.js'),
    'export const RATE = 0.19\n\nexport function price(sum) {\n  return sum * (1 + RATE)\n}\n',
  )
  await writeFile(join(cwd, 'fresh.txt'), 'new\n')
  await runCli(['trust', 'add'], { home, cwd })
  await using terminal = await openTerminal([], { home, cwd, columns, rows: ROWS })
  await terminal.shows(REST)
  for (const line of [
    'Where does the kettle stand?',
    '/new',
    'A question that is longer than most lines of a narrow window are wide.',
    '/new',
  ]) {
    await say(terminal, line)
    await terminal.shows(line === '/new' ? /A new session\.\n>$/ : /Done\.\n>$/)
  }
  const recorded: string[] = []
  for (const { line, shows, leaves = [] } of PANELS) {
    await say(terminal, line)
    await terminal.shows(shows)
    // The bar counts the calls of the judge as they end, which may be after the screen is looked at.
    const rows = (await terminal.rows()).map((row) => row.replace(/^(╰ .*)\$\d+\.\d\d/, '$1$<cost>'))
    recorded.push(
      `## ${line}`,
      ...rows.slice(rows.findLastIndex((row) => row.startsWith(`> ${line}`.slice(0, columns - 4)))),
    )
    if (leaves.length === 0) continue
    await terminal.press(...leaves)
    await terminal.shows(REST)
  }
  return recorded.map(createNormaliser({ [scene.folder]: '/golden' }))
}

async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}

needs('tmux', hasTmux)('panels', () => {
  it('stand at three widths as they were recorded', async () => {
    scene.server.setHandler(answer)
    for (const columns of WIDTHS) compareGolden(`panels/${columns}-columns`, await record(columns))
  }, 120_000)
})
