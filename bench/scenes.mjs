// node bench/scenes.mjs [--out FOLDER] [SCENE…]: the same scenes in Hermes, pi and Codex, each in a terminal of its own (tmux) with a scripted
// model on this machine, drawn side by side: FOLDER/SCENE.svg for each program, and FOLDER/SCENE.png of all where Chromium is installed.
// FOLDER is bench/.scenes without --out. A program that is not installed is left out with a line (bench/peers.mjs).
// Exit codes: 0 drawn, 1 no tmux, no build, or a screen never came to what is waited for, 2 for a wrong option.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { drawScreen } from '../scripts/terminal/draw-screen.mjs'
import { hasTmux, openScreen } from '../scripts/terminal/tmux-screen.mjs'
import { BIN } from './measure.mjs'
import { programs } from './scenes/programs.mjs'
import { FILES, SCENES } from './scenes/scenes.mjs'

const [COLUMNS, ROWS] = [88, 40]
const SHOWN_WIDTH = 760

const { values, positionals } = readOptions()
const target = resolve(values.out)
if (!existsSync(BIN)) fail(`${BIN} is missing; run: pnpm build`)
if (!hasTmux()) fail('tmux is not installed')
mkdirSync(target, { recursive: true })

const failures = []
const found = programs()
for (const scene of SCENES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  const pictures = []
  for (const program of found) {
    if (program.hasNo.includes(scene.name)) continue
    try {
      const rows = await play(scene, program)
      const title = `${program.name}: ${scene.title}`
      const file = join(target, `${scene.name}-${program.name}.svg`)
      writeFileSync(file, drawScreen(rows, { columns: COLUMNS, title, height: ROWS }))
      pictures.push({ file, title })
    } catch (error) {
      failures.push(`${scene.name} in ${program.name}: ${error.message}`)
    }
  }
  if (pictures.length > 0) console.log(`${scene.name}: ${photograph(pictures, join(target, `${scene.name}.png`))}`)
}
if (failures.length > 0) fail(failures.join('\n'))

/** The rows of the screen at the end of a scene. */
async function play(scene, program) {
  const folder = mkdtempSync(join(tmpdir(), 'scene-'))
  const cwd = join(folder, 'shop')
  mkdirSync(join(cwd, 'build'), { recursive: true })
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text)
  writeFileSync(join(cwd, 'build', 'shop.js'), FILES['price.js'])
  spawnSync('git', ['init', '--quiet', '--initial-branch', 'main'], { cwd })
  const opened = await program.open({ folder, cwd, answers: scene.answers ?? [] })
  const screen = openScreen({ ...opened, cwd, columns: COLUMNS, rows: ROWS })
  const send = async (line) => {
    screen.type(line)
    await screen.settles()
    screen.press('Enter')
  }
  try {
    await screen.waitFor(program.ready)
    await screen.settles()
    if (scene.pastes) screen.type(`\u001B[200~${scene.pastes}\u001B[201~`)
    if (scene.isUnsent) screen.type(scene.says)
    else if (scene.says) {
      await send(scene.says)
      // An Enter that comes while a program still starts may be lost.
      for (let tries = 0; tries < 20 && opened.hasHeard?.() === false; tries++) {
        await screen.settles()
        screen.press('Enter')
      }
    }
    if (scene.keys) {
      await screen.waitFor(scene.keys.after)
      screen.press(...scene.keys.press)
    }
    if (scene.shows) await screen.waitFor(scene.shows)
    await screen.settles()
    for (const line of program.opens[scene.opens] ?? []) {
      await send(line)
      await screen.settles()
    }
    return screen.rows()
  } finally {
    screen.close()
    await opened.close()
    // A program ends with its terminal, and may still write then.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** One picture of all; what was written. */
function photograph(pictures, file) {
  const page = join(target, 'page.html')
  const figures = pictures.map(
    ({ file: svg, title }) =>
      `<figure><figcaption>${title}</figcaption><img src="file://${svg}" width="${SHOWN_WIDTH}"></figure>`,
  )
  const style = 'body{margin:0;display:flex;font:14px sans-serif;background:#fff}figure{margin:6px}'
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><style>${style}</style>${figures.join('')}`)
  const size = `${pictures.length * (SHOWN_WIDTH + 12)},${Math.round((SHOWN_WIDTH * (ROWS * 19 + 52)) / (COLUMNS * 8.4 + 36)) + 40}`
  const { status } = spawnSync('chromium', [
    ...['--headless=new', '--no-sandbox', '--hide-scrollbars', '--allow-file-access-from-files'],
    ...[`--window-size=${size}`, `--screenshot=${file}`, `file://${page}`],
  ])
  rmSync(page)
  return status === 0 ? file : `${pictures.length} SVG files (no Chromium for one picture)`
}

function readOptions() {
  try {
    const out = { type: 'string', default: join(import.meta.dirname, '.scenes') }
    return parseArgs({ options: { out }, allowPositionals: true })
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

function fail(message) {
  console.error(`scenes: ${message}`)
  process.exit(1)
}
