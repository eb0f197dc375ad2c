// node scripts/picture.mjs [FILE]: draws docs/terminal.svg, the picture of the README: the built CLI fixes a small project in a terminal of
// its own (tmux), asked by a person who types, answered by the scripted model server. What is drawn is what the terminal shows.
// Exit codes: 0 drawn, 1 no tmux, no build, or the screen never came to what is waited for, 2 for a wrong option.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { importSource } from './import-source.mjs'
import { readOptions } from './options.mjs'
import { drawScreen } from './terminal/draw-screen.mjs'
import { hasTmux, openScreen } from './terminal/tmux-screen.mjs'

const root = resolve(import.meta.dirname, '..')
const { positionals } = readOptions(import.meta.filename, {}, { allowPositionals: true })
const target = resolve(positionals[0] ?? join(root, 'docs/terminal.svg'))
const bin = join(root, 'apps/cli/dist/bin.js')
if (!existsSync(bin)) fail(`${bin} is missing; run: pnpm build`)
if (!hasTmux()) fail('tmux is not installed')

const [COLUMNS, ROWS] = [96, 40]
const TITLE =
  'Hermes in a terminal: it runs a failing test, patches the code, runs the test again and asks before it pushes'
const REQUEST = 'A test in this folder fails. Fix it and push the branch.'
const call = (name, args) => ({ name, args })
const ANSWERS = [
  { text: 'First the tests.', toolCalls: [call('terminal', { command: 'node slug.test.js' })] },
  { toolCalls: [call('read_file', { path: 'slug.js' })] },
  {
    text: 'The last replace takes a dash from the start only.',
    toolCalls: [call('patch', { path: 'slug.js', old_string: '/^-/', new_string: '/^-|-$/g' })],
  },
  { toolCalls: [call('terminal', { command: 'node slug.test.js' })] },
  { toolCalls: [call('terminal', { command: 'git push origin fix-slug' })] },
]

const folder = mkdtempSync(join(tmpdir(), 'hermes-picture-'))
const { startModelServer } = await importSource(join(root, 'packages/testkit/src/model-server/model-server.ts'))
const model = await startModelServer(ANSWERS)
try {
  const rows = await record()
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, drawScreen(rows, { columns: COLUMNS, title: TITLE }))
  console.log(`picture: ${target}`)
} finally {
  await model.close()
  // The program ends with its terminal, and may still write then.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** The rows of the screen once the approval of the push is asked for, with their colours as escape sequences. */
async function record() {
  const { writeProject } = await importSource(join(root, 'apps/cli/src/demo/project.ts'))
  const [project, home] = [join(folder, 'user', 'slug'), join(folder, 'user', '.hermes')]
  await writeProject(project)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const quiet = '{title_generation: {enabled: false}, session_summary: {enabled: false}}'
  writeFileSync(join(home, 'config.yaml'), `auxiliary: ${quiet}\n`, { mode: 0o600 })
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: dirname(home), HERMES_HOME: home }
  execFileSync(process.execPath, [bin, 'trust', 'add'], { cwd: project, env })
  const screen = openScreen({
    command: [process.execPath, bin, '--base-url', model.baseUrl, '-m', 'demo-model'],
    cwd: project,
    ...{ env, columns: COLUMNS, rows: ROWS },
  })
  try {
    await screen.waitFor(/^> *$/m)
    screen.type(REQUEST)
    screen.press('Enter')
    await screen.waitFor(/\[n\] no/)
    return screen.rows().map((row) => row.replaceAll(dirname(home), '~'))
  } catch (error) {
    return fail(error.message)
  } finally {
    screen.close()
  }
}

function fail(message) {
  console.error(`picture: ${message}`)
  process.exit(1)
}
