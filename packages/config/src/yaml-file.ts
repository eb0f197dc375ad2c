import { isNestedTooDeep } from '@hermes/contracts'
import type { Document, LineCounter, Node } from 'yaml'
import type { Path } from './check-field.js'
import type { Position } from './problem.js'

/** What a YAML text says; `value` is what could be read even when `fault` says that it is broken. */
export interface ReadYaml {
  readonly value: unknown
  /** The first thing that is not YAML. */
  readonly fault: (Position & { readonly message: string }) | null
  /** Where the value at a path stands, or the nearest thing around it. */
  locate(path: Path): Position
  /** Where the key at a path stands. */
  locateKey(path: Path): Position
  /** How a number is written in the file; `undefined` for what is none. */
  sourceOf(path: Path): string | undefined
}

/** A YAML text, parsed so that it can be edited. */
export interface YamlFile extends ReadYaml {
  readonly doc: Document
}

/** To read on after each of many mistakes takes time by the square of their number. */
const MOST_MISTAKES = 100
/** What is no longer holds nobody up whatever is wrong with it, and so is gone through once. */
const SHORT_CHARS = 8_000

function hasManyMistakes(yaml: typeof import('yaml'), text: string): boolean {
  let mistakes = 0
  for (const token of new yaml.Parser().parse(text))
    if (token.type === 'error' && ++mistakes > MOST_MISTAKES) return true
  return false
}

/** Where a value is one of those that it stands in; `null` where none is. */
function pathOfCircle(value: unknown, path: Path = [], above: readonly unknown[] = []): Path | null {
  if (typeof value !== 'object' || value === null) return null
  if (above.includes(value)) return path
  for (const [key, item] of Object.entries(value)) {
    const found = pathOfCircle(item, [...path, Array.isArray(value) ? Number(key) : key], [...above, value])
    if (found) return found
  }
  return null
}

/** Parses YAML 1.2 (with `<<` merges) and keeps comments, order and positions. Never throws for bad YAML. */
export async function parseYaml(text: string): Promise<YamlFile> {
  const { default: yaml } = await import('yaml')
  const lines = new yaml.LineCounter()
  const isDeep = isNestedTooDeep(text)
  const isBroken = !isDeep && text.length > SHORT_CHARS && hasManyMistakes(yaml, text)
  const doc = yaml.parseDocument(isDeep || isBroken ? '' : text, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    logLevel: 'error',
  })
  const error = doc.errors[0]
  let fault = error ? { ...position(lines, error.pos[0]), message: error.message.replace(/\s+/g, ' ') } : null
  if (isDeep) fault = { line: 1, column: 1, message: 'Values are nested more than 200 deep' }
  if (isBroken) fault = { line: 1, column: 1, message: `The file has more than ${MOST_MISTAKES} mistakes` }
  const nodeAt = (path: Path) => doc.getIn(path, true) as Node | undefined
  const locate = (path: Path): Position => {
    for (let length = path.length; length >= 0; length--) {
      const range = nodeAt(path.slice(0, length))?.range
      if (range) return position(lines, range[0])
    }
    return { line: 1, column: 1 }
  }
  let value: unknown = null
  try {
    value = doc.toJS()
    const circle = text.includes('*') ? pathOfCircle(value) : null
    if (circle) {
      value = null
      fault ??= { ...locate(circle), message: 'A value holds itself by an alias' }
    }
  } catch (thrown) {
    fault ??= { line: 1, column: 1, message: thrown instanceof Error ? thrown.message : String(thrown) }
  }
  return {
    doc,
    value,
    fault,
    locate,
    locateKey: (path) => {
      const parent = nodeAt(path.slice(0, -1))
      const pair = yaml.isMap<Node>(parent)
        ? parent.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === path.at(-1))
        : null
      return position(lines, pair?.key.range?.[0] ?? 0)
    },
    sourceOf: (path) => {
      const node = nodeAt(path)
      return yaml.isScalar(node) && typeof node.value === 'number' ? node.source : undefined
    },
  }
}

function position(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}
