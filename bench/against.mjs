// Two commits side by side: each in a clone of its own that is built once, measured by the bench of this one in interleaved pairs.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spread } from './measure.mjs'

/** Medians that differ by no more are within noise. */
const NOISE = 0.03

/**
 * @param {{ root: string, commit: string, pairs: number, args: string[] }} options `args` are those of bench/run.mjs for each run
 * @returns {{ rows: Compared[], missing: string[] }} `missing` are rows and scenarios that one of the two does not have
 * @throws Error when a commit is unknown, or a clone cannot be installed or measured
 *
 * @typedef {{ title: string, unit: string, old: number, new: number, change: number }} Compared  medians; `change` 0.1 is a tenth more
 */
export function compareCommits({ root, commit, pairs, args }) {
  const directory = mkdtempSync(join(tmpdir(), 'hermes-against-'))
  try {
    const clones = {
      old: clone(root, commit, join(directory, 'old')),
      new: clone(root, 'HEAD', join(directory, 'new')),
    }
    const runs = { old: [], new: [] }
    for (let pair = 0; pair < pairs; pair++) {
      // Who comes first takes turns: the second finds warmer disks and a hotter processor.
      const order = pair % 2 === 0 ? ['old', 'new'] : ['new', 'old']
      for (const side of order) {
        console.error(`pair ${pair + 1} of ${pairs}: ${side}`)
        runs[side].push(measure(clones[side], args))
      }
    }
    return compareRuns(runs)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** @param {{ old: BenchResult[], new: BenchResult[] }} runs @returns {{ rows: Compared[], missing: string[] }} */
export function compareRuns(runs) {
  const medians = Object.fromEntries(Object.entries(runs).map(([side, results]) => [side, mediansOf(results)]))
  const titles = [...new Set([...medians.old.keys(), ...medians.new.keys()])]
  const both = titles.filter((title) => medians.old.has(title) && medians.new.has(title))
  const failed = ['old', 'new'].flatMap((side) => [
    ...new Set(
      runs[side].flatMap(({ failures }) => failures.map(({ name, message }) => `${name} (${side}: ${message})`)),
    ),
  ])
  const rows = both.map((title) => {
    const [before, after] = [medians.old.get(title), medians.new.get(title)]
    const change = before.median === after.median ? 0 : after.median / before.median - 1
    return { title: title.trim(), unit: before.unit, old: before.median, new: after.median, change }
  })
  return { rows, missing: [...titles.filter((title) => !both.includes(title)).map((title) => title.trim()), ...failed] }
}

/**
 * Of each row, by its title. A row that is indented belongs to the one above it, and has its title before its own.
 * @typedef {{ rows: import('./report.mjs').Row[], failures: { name: string, message: string }[] }} BenchResult
 * @param {BenchResult[]} results
 */
function mediansOf(results) {
  const values = new Map()
  for (const { rows } of results) {
    let above = ''
    for (const { title, unit, median } of rows) {
      const isPart = title.startsWith(' ')
      if (!isPart) above = title
      const name = isPart ? `${above}: ${title.trim()}` : title
      values.set(name, { unit, medians: [...(values.get(name)?.medians ?? []), median] })
    }
  }
  return new Map([...values].map(([name, { unit, medians }]) => [name, { unit, median: spread(medians).median }]))
}

/** @param {{ rows: Compared[], missing: string[] }} compared @returns {string} the rows that moved, and how many did not */
export function comparison({ rows, missing }) {
  const moved = rows
    .filter(({ change }) => !(Math.abs(change) <= NOISE))
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
  const figure = (value) => value.toFixed(Math.abs(value) >= 100 ? 0 : 2)
  const width = Math.max(0, ...moved.map(({ title }) => title.length))
  return [
    ...moved.map(
      ({ title, unit, change, ...row }) =>
        `${title.padEnd(width)}  ${figure(row.old).padStart(9)} → ${figure(row.new).padStart(9)} ${unit.padEnd(3)}  ${change > 0 ? '+' : ''}${(100 * change).toFixed(1)} %`,
    ),
    `${rows.length - moved.length} of ${rows.length} rows are within ${100 * NOISE} %`,
    ...(missing.length > 0 ? [`not compared: ${missing.join(', ')}`] : []),
  ].join('\n')
}

function clone(root, commit, directory) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  const hash = git('rev-parse', '--verify', `${commit}^{commit}`)
  git('clone', '--quiet', '--shared', '--no-checkout', root, directory)
  git('-C', directory, 'checkout', '--quiet', hash)
  run('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'], directory)
  // One way of measuring for both.
  rmSync(join(directory, 'bench'), { recursive: true, force: true })
  cpSync(join(root, 'bench'), join(directory, 'bench'), { recursive: true })
  return directory
}

function measure(directory, args) {
  const out = join(directory, 'bench-result.json')
  run(process.execPath, ['bench/run.mjs', ...args, '--out', out], directory)
  return JSON.parse(readFileSync(out, 'utf8'))
}

function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status === 0) return
  throw new Error(
    `${command} ${args.join(' ')} failed in ${cwd}: ${error?.message ?? (stderr + stdout).trim().slice(-2_000)}`,
  )
}
