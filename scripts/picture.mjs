// node scripts/picture.mjs [FILE]: draws docs/terminal.svg, the picture of the README: the built CLI fixes a small project in a terminal of
// its own (tmux), asked by a person who types, answered by the scripted model server. What is drawn is what the terminal shows.
// Exit codes: 0 drawn, 1 no tmux, no build, or the screen never came to what is waited for, 2 for a wrong option.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { importSource } from './import-source.mjs'
import { readOptions } from './options.mjs'

const root = resolve(import.meta.dirname, '..')
const { positionals } = readOptions(import.meta.filename, {}, { allowPositionals: true })
const target = resolve(positionals[0] ?? join(root, 'docs/terminal.svg'))
const bin = join(root, 'apps/cli/dist/bin.js')
if (!existsSync(bin)) fail(`${bin} is missing; run: pnpm build`)
if (spawnSync('tmux', ['-V']).status !== 0) fail('tmux is not installed')

const [COLUMNS, ROWS] = [96, 40]
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

/** What an escape code means in the picture; codes that are not here change nothing. */
const STYLES = {
  1: ' font-weight="bold"',
  2: ' opacity="0.6"',
  31: ' fill="#ff7b72"',
  32: ' fill="#7ee787"',
  33: ' fill="#e3b341"',
  34: ' fill="#79c0ff"',
  35: ' fill="#d2a8ff"',
  36: ' fill="#76e3ea"',
  94: ' fill="#79c0ff"',
}

const folder = mkdtempSync(join(tmpdir(), 'hermes-picture-'))
const server = `hermes-picture-${process.pid}`
const { startModelServer } = await importSource(join(root, 'packages/testkit/src/model-server/model-server.ts'))
const model = await startModelServer(ANSWERS)
try {
  const screen = await record()
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, draw(screen))
  console.log(`picture: ${target}`)
} finally {
  spawnSync('tmux', ['-L', server, 'kill-server'])
  await model.close()
  // The program ends with its terminal, and may still write then.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** The rows of the screen once the approval of the push is asked for, with their colours as escape sequences. */
async function record() {
  const { writeProject } = await importSource(join(root, 'apps/cli/src/demo/project.ts'))
  const [project, home] = [join(folder, 'slug'), join(folder, 'user', '.hermes')]
  await writeProject(project)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const quiet = '{title_generation: {enabled: false}, session_summary: {enabled: false}}'
  writeFileSync(join(home, 'config.yaml'), `auxiliary: ${quiet}\n`, { mode: 0o600 })
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: dirname(home),
    HERMES_HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'tmux-256color',
  }
  const words = ['env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const command = [...words, process.execPath, bin, '--base-url', model.baseUrl, '-m', 'demo-model']
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)]
  tmux('new-session', '-d', ...size, '-c', project, command.map(quote).join(' '))
  await waitFor(/^> *$/m)
  tmux('send-keys', '-l', '--', REQUEST)
  tmux('send-keys', 'Enter')
  await waitFor(/\[n\] no/)
  const screen = tmux('capture-pane', '-p', '-e').trimEnd().replaceAll(folder, '~')
  return screen.split('\n')
}

async function waitFor(pattern) {
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(50))
    if (pattern.test(tmux('capture-pane', '-p'))) return
  fail(`the terminal never showed ${pattern}:\n${tmux('capture-pane', '-p')}`)
}

function tmux(...words) {
  return execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...words], { encoding: 'utf8' })
}

/** An SVG of the rows; each run of one style is a text of its own at its column, so that fonts of other widths do not shift what follows. */
function draw(rows) {
  const [cell, line, margin, bar] = [8.4, 19, 18, 34]
  const [width, height] = [COLUMNS * cell + 2 * margin, rows.length * line + bar + margin]
  const styles = new Set()
  const texts = rows.flatMap((row, index) => {
    const y = bar + (index + 1) * line - 5
    return runs(row, styles).map(({ text, column, style }) => {
      const at = `x="${(margin + column * cell).toFixed(1)}" y="${y}" textLength="${(cells(text) * cell).toFixed(1)}"`
      return `<text ${at}${style}>${escapeXml(text)}</text>`
    })
  })
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${margin + 6 + index * 20}" cy="17" r="6" fill="${fill}"/>`,
  )
  const font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(1)} ${height}" role="img">
<title>Hermes in a terminal: it runs a failing test, patches the code, runs the test again and asks before it pushes</title>
<rect width="100%" height="100%" rx="10" fill="#16181d"/>
${dots.join('')}
<g xml:space="preserve" style="white-space:pre" font-family="${font}" font-size="14" fill="#d7dae0">
${texts.join('\n')}
</g>
</svg>
`
}

/** What stands in a row, cut where the style changes, without blanks at its edges. `styles` goes on into the next row, as tmux has it. */
function runs(row, styles) {
  const found = []
  let column = 0
  for (const [, codes, text] of row.matchAll(/\u001B\[([\d;]*)m|([^\u001B]+)/g)) {
    if (codes !== undefined) setStyles(styles, codes)
    else {
      const blanks = /^ */.exec(text)[0].length
      const style = [...styles].map((code) => STYLES[code] ?? '').join('')
      if (text.trim() !== '') found.push({ text: text.trim(), column: column + blanks, style })
      column += cells(text)
    }
  }
  return found
}

function setStyles(styles, codes) {
  for (const code of (codes || '0').split(';')) {
    if (code === '0') styles.clear()
    else if (/^[39]\d$/.test(code)) for (const other of styles) if (/^[39]\d$/.test(other)) styles.delete(other)
    if (code === '22') styles.delete('1') || styles.delete('2')
    styles.add(code)
  }
}

/** How many columns a text takes. */
function cells(text) {
  return [...text].reduce((sum, letter) => sum + (/\p{Emoji_Presentation}/u.test(letter) ? 2 : 1), 0)
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function fail(message) {
  console.error(`picture: ${message}`)
  process.exit(1)
}
