import type { Field, Section } from './field.js'

/** A key path in `config.yaml`. */
export type Path = readonly (string | number)[]

/** A value that a key may not hold. */
export interface Issue {
  readonly path: Path
  /** Completes "must be …". */
  readonly expected: string
  readonly found: unknown
}

/** Where a check puts what it finds. */
interface CheckContext {
  readonly issues: Issue[]
  /** How a number is written in the file, so that `0123` stays a text where a text is wanted. */
  readonly sourceOf?: (path: Path) => string | undefined
}

/** Checks a value, fills in defaults and changes what is harmless to change. Nothing means the default. */
export function checkField(field: Field, value: unknown, path: Path, context: CheckContext): unknown {
  if (value === null || value === undefined || (value === '' && field.type !== 'texts')) return defaultOf(field)
  const result = readField(field, value, path, context)
  if (result !== undefined) return result
  context.issues.push({ path, expected: expectedOf(field), found: value })
  return defaultOf(field)
}

function readField(field: Field, value: unknown, path: Path, context: CheckContext): unknown {
  switch (field.type) {
    case 'text':
      return readText(value, path, context)
    case 'name':
      return typeof value === 'string' ? value : undefined
    case 'number':
      return readNumber(value, field.min, field.max)
    case 'share':
      return readShare(value)
    case 'amount':
      return readAmount(value)
    case 'decimal':
      return readDecimal(value, field)
    case 'boolean':
      return readBoolean(value)
    case 'choice':
      return Object.hasOwn(field.words, word(value)) ? field.words[word(value)] : undefined
    case 'texts':
      return readTexts(value, path, context)
    case 'any':
      return value
    case 'list':
      return Array.isArray(value) ? value : undefined
    case 'map':
      return isMap(value) ? value : undefined
    case 'record':
      return isMap(value)
        ? mapEntries(value, (name, item) => checkField(field.of, item, [...path, name], context))
        : undefined
    case 'section':
      return readSection(field, value, path, context)
    default:
      return field satisfies never
  }
}

function readSection(section: Section, value: unknown, path: Path, context: CheckContext): unknown {
  if (section.shorthand !== undefined && typeof value !== 'object') {
    const shorthand = section.fields[section.shorthand]!
    return readSection(section, { [section.shorthand]: checkField(shorthand, value, path, context) }, path, context)
  }
  if (!isMap(value)) return undefined
  const aliases = section.aliases ?? {}
  const kept = Object.entries(value).filter(
    ([key]) => !Object.hasOwn(section.fields, key) && !Object.hasOwn(aliases, key),
  )
  if (section.isClosed)
    for (const [key] of kept)
      context.issues.push({
        path: [...path, key],
        expected: `named one of ${Object.keys(section.fields).join(', ')}`,
        found: key,
      })
  const known = Object.entries(section.fields).map(([key, field]) => {
    const alias = Object.keys(aliases).find((name) => aliases[name] === key && Object.hasOwn(value, name))
    const name = Object.hasOwn(value, key) || alias === undefined ? key : alias
    const item = Object.hasOwn(value, name) ? value[name] : undefined
    return [key, checkField(field, item, [...path, name], context)] as const
  })
  return Object.fromEntries([...known.filter(([, item]) => item !== undefined), ...kept])
}

function readText(value: unknown, path: Path, { sourceOf }: CheckContext): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? (sourceOf?.(path) ?? String(value)) : undefined
}

function readTexts(value: unknown, path: Path, context: CheckContext): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((item, index) => {
    const at = [...path, index]
    const read = readText(item, at, context)
    if (read === undefined) context.issues.push({ path: at, expected: 'a text', found: item })
    return read ?? []
  })
}

function readShare(value: unknown): number | undefined {
  const share = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof share === 'number' && share > 0 && share <= 1 ? share : undefined
}

function readNumber(value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined {
  const number =
    typeof value === 'string' && /^\s*[+-]?\d+(?:_\d+)*\s*$/.test(value) ? Number(value.replaceAll('_', '')) : value
  return Number.isInteger(number) && (number as number) >= min && (number as number) <= max
    ? (number as number)
    : undefined
}

function readAmount(value: unknown): number | undefined {
  const amount = withDecimals(value)
  return amount !== undefined && amount > 0 ? amount : undefined
}

function readDecimal(value: unknown, { min, max }: { readonly min: number; readonly max: number }): number | undefined {
  const number = withDecimals(value)
  return number !== undefined && number >= min && number <= max ? number : undefined
}

function withDecimals(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*(?:\d*\.)?\d+\s*$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function readBoolean(value: unknown): boolean | undefined {
  if (['true', 'yes', 'on', '1'].includes(word(value))) return true
  return ['false', 'no', 'off', '0'].includes(word(value)) ? false : undefined
}

function word(value: unknown): string {
  return typeof value === 'object' ? '' : String(value).trim().toLowerCase()
}

/** What a key holds when the file says nothing; `undefined` when that is nothing. */
function defaultOf(field: Field): unknown {
  switch (field.type) {
    case 'section':
      return field.optional ? undefined : readSection(field, {}, [], { issues: [] })
    case 'record':
    case 'map':
      return {}
    case 'any':
      return undefined
    case 'list':
      return []
    case 'texts':
      return field.default ?? (field.optional ? undefined : [])
    default:
      return field.default
  }
}

/** What a field wants, to complete "must be …". */
export function expectedOf(field: Field): string {
  switch (field.type) {
    case 'text':
      return 'a text'
    case 'name':
      return 'a name'
    case 'number':
      return field.max === undefined
        ? `a whole number of at least ${field.min}`
        : `a whole number from ${field.min} to ${field.max}`
    case 'share':
      return 'a number above 0 and at most 1'
    case 'amount':
      return 'a number above 0'
    case 'decimal':
      return `a number from ${field.min} to ${field.max}`
    case 'boolean':
      return 'true or false'
    case 'choice':
      return `one of ${[...new Set(Object.values(field.words))].join(', ')}`
    case 'texts':
      return 'a list of texts'
    case 'any':
      return 'anything'
    case 'list':
      return 'a list'
    case 'map':
    case 'record':
      return 'a map'
    case 'section':
      return field.shorthand === undefined ? 'a map' : 'a text or a map'
    default:
      return field satisfies never
  }
}

/** What was found, in words that fit on a line. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string')
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  return String(value)
}

/** Whether a value is a map, as YAML and JSON give it. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A map with each value changed; a key such as `__proto__` stays a plain key. */
export function mapEntries(
  map: Readonly<Record<string, unknown>>,
  change: (key: string, value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(key, value)]))
}
