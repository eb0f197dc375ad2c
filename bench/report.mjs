// Rows of the bench as a table and as data.
import { execFileSync } from 'node:child_process'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { spread } from './measure.mjs'

/**
 * @typedef {object} Row
 * @property {string} title
 * @property {string} unit `ms`, `MiB`, `x`, `kB`, `%`, `MB` or empty
 * @property {number} min
 * @property {number} median
 * @property {number} max
 * @property {number} [limit] the median may not pass it
 * @property {'most' | 'least'} [bound]
 */

/**
 * @param {string} title @param {string} unit @param {number[]} values @returns {Row}
 * @throws where a sample is no finite number, or there is none: such a row would pass
 */
export function row(title, unit, values, limit = {}) {
  if (values.length === 0 || !values.every(Number.isFinite))
    throw new Error(`${title}: there is no figure (${JSON.stringify(values.map(String))})`)
  return { title, unit, ...spread(values), ...limit }
}

/** @param {number} value */
export const atMost = (value) => ({ limit: value, bound: 'most' })
/** @param {number} value */
export const atLeast = (value) => ({ limit: value, bound: 'least' })

/** @param {Row} item @returns {'PASS' | 'FAIL' | ''} */
export function verdict({ median, limit, bound }) {
  if (limit === undefined) return ''
  return (bound === 'most' ? median <= limit : median >= limit) ? 'PASS' : 'FAIL'
}

/** @param {Row[]} rows @returns {string} */
export function table(rows) {
  const cells = rows.map((item) => [
    item.title,
    format(item.min),
    format(item.median),
    format(item.max),
    item.unit,
    item.limit === undefined ? '' : `${item.bound === 'most' ? '<=' : '>='} ${item.limit}`,
    verdict(item),
  ])
  const all = [['', 'min', 'median', 'max', '', 'limit', ''], ...cells]
  const widths = all[0].map((_, column) => Math.max(...all.map((line) => line[column].length)))
  const isNumber = (column) => column >= 1 && column <= 3
  return all
    .map((line) =>
      line.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))),
    )
    .map((line) => line.join('  ').trimEnd())
    .join('\n')
}

function format(value) {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}

/** What a reader needs to place the figures. */
export function machineFacts() {
  const processors = cpus()
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    commit: commit(),
  }
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return 'unknown'
  }
}
