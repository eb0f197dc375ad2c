// Compares what a session did with its golden file, or writes that file: HERMES_GOLDEN=write, which scripts/golden.mjs sets.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { diff } from 'node:util'
import { partNames, partText, storeParts } from './parts.js'

const FOLDER = join(import.meta.dirname, 'wires')
const AROUND = 2
const MOST_LINES = 200
const MOST_CHARS = 400
const BEFORE_CHARS = 100

/**
 * Compares, or writes when that is asked for.
 * @param name folder and file below `wires`, without its ending
 * @throws an error with the lines that differ
 */
export function compareGolden(name: string, lines: readonly string[]): void {
  const path = join(FOLDER, `${name}.golden`)
  const text = `${lines.join('\n')}\n`
  if (process.env['HERMES_GOLDEN'] === 'write') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    storeParts(text)
    return
  }
  if (!existsSync(path))
    throw new Error(`${name} has no golden file. Record it: node scripts/golden.mjs --write ${name}`)
  const golden = readFileSync(path, 'utf8')
  if (golden !== text) throw new Error(`${name} is not what it was:\n${readableDiff(golden, text)}`)
}

/** Names of the golden files of a folder. */
export function goldenNames(folder: string): readonly string[] {
  return readdirSync(join(FOLDER, folder)).map((file) => file.replace(/\.golden$/, ''))
}

/** The lines that differ with some around them; what a name stands for counts as lines at the end. */
function readableDiff(golden: string, text: string): string {
  const operations = diff(expand(golden).split('\n'), expand(text).split('\n'))
  const isChanged = operations.map(([operation]) => operation !== 0)
  const shown: string[] = []
  for (const [index, [operation, value]] of operations.entries()) {
    const isNear = isChanged.slice(Math.max(0, index - AROUND), index + AROUND + 1).includes(true)
    if (!isNear) {
      if (shown.at(-1) !== '…') shown.push('…')
      continue
    }
    shown.push(`${SIGNS[operation]} ${clip(value, operation === 0 ? 0 : sameChars(operations, index))}`)
  }
  const more = shown.length > MOST_LINES ? [`… and ${shown.length - MOST_LINES} more lines`] : []
  return ['- the golden file', '+ this run', ...shown.slice(0, MOST_LINES), ...more].join('\n')
}

/** What `diff` says of a line, and how it is shown. */
const SIGNS = { '-1': '+', 0: ' ', 1: '-' } as const

/** How many characters a changed line begins with that the changed one before or after it has too. */
function sameChars(operations: ReturnType<typeof diff>, index: number): number {
  const [operation, line] = operations[index]!
  const [, other] = operations[index + operation] ?? []
  let count = 0
  while (other !== undefined && count < line.length && line[count] === other[count]) count++
  return count
}

/** A long line from shortly before what differs. */
function clip(line: string, from: number): string {
  const start = line.length > MOST_CHARS ? Math.max(0, Math.min(from, line.length - MOST_CHARS) - BEFORE_CHARS) : 0
  const shown = line.slice(start, start + MOST_CHARS)
  return `${start > 0 ? '…' : ''}${shown}${start + MOST_CHARS < line.length ? '…' : ''}`
}

function expand(text: string): string {
  const names = partNames(text)
  const short = names.reduce((result, name, index) => result.replaceAll(`<${name}>`, `<part ${index + 1}>`), text)
  const parts = names.map((name, index) => `## part ${index + 1}\n${partText(name)}`)
  return [short, ...parts].join('\n')
}
