// docs/entry-points.md, made from docs/entry-points.json by generate.mjs; test.mjs holds it to what ran.
// A cell of the table names a test as `FILE > TITLE`, or says in one line why a feature is not there (`{ "why": … }`).
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const COLUMNS = {
  terminal: 'terminal',
  oneshot: 'one-shot',
  gateway: 'gateway',
  acp: 'editor (ACP)',
  embedded: 'your program',
}
/** How many of the cells may be without a test, and features none of whose cells may: counts once `enforced` is true. */
const MAX_WITHOUT_TEST = 0.1
const EVERYWHERE = ['approvals', 'notices', 'titles', 'usage, with the answer', 'stop', 'resume']

/**
 * @returns {{ file: string, text: string }[]} the page as it should be; none where there is no data
 * @throws Error with a line for each cell that is empty, or names a test that does not exist
 */
export function entryPointPage(root) {
  const data = join(root, 'docs/entry-points.json')
  if (!existsSync(data)) return []
  const { enforced, features } = JSON.parse(readFileSync(data, 'utf8'))
  const mistakes = features.flatMap((row) => cellsOf(row).flatMap((cell) => mistakeOf(root, row.feature, cell)))
  if (enforced) mistakes.push(...beyondLimits(features))
  if (mistakes.length > 0) throw new Error(`docs/entry-points.json:\n${mistakes.join('\n')}`)
  return [{ file: 'docs/entry-points.md', text: render(features) }]
}

/**
 * The cells whose test did not run, by the report of a whole run; a test that failed did run, and is a failure by itself. A title is found
 * by its words: placeholders (`%s`, `$name`, `${…}`) stand for any text, a dash for a space, as in names of recorded sessions. A test of a
 * suite that other files call may have run in any of them.
 * @param {string} root
 * @param {{ name: string, assertionResults: { fullName: string, status: string }[] }[]} files `testResults` of vitest's JSON report
 * @param {{ maySkip: boolean }} options whether a test that was skipped, for want of a program, is let pass
 * @returns {string[]} a line for each such cell
 */
export function cellsWithoutRun(root, files, { maySkip }) {
  const data = join(root, 'docs/entry-points.json')
  if (!existsSync(data)) return []
  const titlesOf = new Map()
  for (const { name, assertionResults } of files) {
    const ran = assertionResults.filter(({ status }) => maySkip || ['passed', 'failed'].includes(status))
    titlesOf.set(
      relative(root, name).replaceAll('\\', '/'),
      ran.map(({ fullName }) => fullName),
    )
  }
  const all = [...titlesOf.values()].flat()
  const hasRun = (cell) => {
    const [file, ...titles] = cell.split(' > ')
    const form = formOf(titles.join(' '))
    return (file.endsWith('.test.ts') ? (titlesOf.get(file) ?? []) : all).some((ran) => form.test(ran))
  }
  return JSON.parse(readFileSync(data, 'utf8')).features.flatMap((row) =>
    cellsOf(row)
      .filter(({ cell }) => typeof cell === 'string' && !hasRun(cell))
      .map(({ name, cell }) => `${row.feature}, ${name}: no test ran as "${cell}"`),
  )
}

function formOf(title) {
  const parts = title.split(/%[sdifjo#]|\$\{[^}]*\}|\$[\w.]+/)
  const escaped = parts.map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll('-', '[- ]'))
  return new RegExp(`(?:^|\\s)${escaped.join('[^]*')}(?:\\s|$)`)
}

function cellsOf(row) {
  return Object.entries(COLUMNS).map(([key, name]) => ({ name, cell: row[key] }))
}

function mistakeOf(root, feature, { name, cell }) {
  const where = `  ${feature}, ${name}:`
  if (typeof cell?.why === 'string' && cell.why.trim() !== '') return []
  const [file, title] = typeof cell === 'string' ? cell.split(' > ') : []
  if (!title) return [`${where} neither a test nor a reason`]
  if (!existsSync(join(root, file))) return [`${where} there is no file ${file}`]
  return hasTest(readFileSync(join(root, file), 'utf8'), title) ? [] : [`${where} no test "${title}" in ${file}`]
}

/** A title is the first argument of a call: of `it`, of what `it.each` gives, or of a function of the file that registers tests. */
function hasTest(source, title) {
  const literal = title.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
  return new RegExp(`\\(\\s*(['"\`])${literal}\\1\\s*,`).test(source)
}

function beyondLimits(features) {
  const cells = features.flatMap(cellsOf)
  const without = cells.filter(({ cell }) => cell.why).length
  const gaps = features
    .filter((row) => EVERYWHERE.includes(row.feature))
    .filter((row) => cellsOf(row).some(({ cell }) => cell.why))
  return [
    ...(without > cells.length * MAX_WITHOUT_TEST ? [`  ${without} of ${cells.length} cells have no test`] : []),
    ...gaps.map(({ feature }) => `  ${feature}: has to be there at every entry point`),
  ]
}

function render(features) {
  const reasons = []
  const rows = features.map((row) => [row.feature, ...cellsOf(row).map(({ cell }) => show(cell, reasons))])
  const head = ['feature', ...Object.values(COLUMNS)]
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  const table = line(head) + line(head.map(() => '---')) + rows.map(line).join('')
  const notes = reasons.map((reason, index) => `${index + 1}. ${reason}\n`).join('')
  return `<!-- Written by \`pnpm gen\` from docs/entry-points.json. -->

# What works where

"yes" links to the file of a test that shows it; point at it for the title. A number says why not.

${table}
${notes}`
}

function show(cell, reasons) {
  if (!cell.why) {
    const [file, title] = cell.split(' > ')
    return `[yes](../${file} "${title.replaceAll('"', "'")}")`
  }
  if (!reasons.includes(cell.why)) reasons.push(cell.why)
  return String(reasons.indexOf(cell.why) + 1)
}
