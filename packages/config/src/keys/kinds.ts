import * as z from 'zod'
import type { Field, Section } from '../field.js'

// `pnpm gen` and the tests load this; nothing on the way of a start does.

/** What is known of a schema beside what zod does with it; the table is made of that. */
export type Kind =
  | Exclude<Field, Section | { readonly type: 'record' }>
  | { readonly type: 'record'; readonly of: z.ZodType }
  | ({ readonly type: 'section'; readonly fields: Readonly<Record<string, z.ZodType>> } & Omit<
      Section,
      'type' | 'fields'
    >)

// The types of zod would look into what a registry holds, and get lost in it.
const KINDS = z.registry<{ readonly kind: object }>()

/** The kind of a schema, or of the one that it was described from; `null` for one that was not made here. */
export function kindOf(schema: z.core.$ZodType): Kind | null {
  return (KINDS.get(schema)?.kind ?? null) as Kind | null
}

/** What reads a value before `inner` checks it, known as a kind. */
function known(kind: Kind, read: (value: unknown) => unknown, inner: z.ZodType): never {
  return z.preprocess(read, inner).register(KINDS, { kind }) as never
}

/** A value that may be left out, or has a default where one is given. */
interface Leaf<Value> {
  (): z.ZodOptional<z.ZodType<Value>>
  (value: Value): z.ZodDefault<z.ZodType<Value>>
}

const nothing = (value: unknown) => (value === null || value === '' ? undefined : value)

function leaf<Value>(kind: object, read: (value: unknown) => unknown, inner: z.ZodType): Leaf<Value> {
  const make = (value?: Value) => {
    const full = { ...kind, ...(value === undefined ? {} : { default: value }) } as Kind
    const filled = value === undefined ? inner.optional() : inner.default(value as never)
    return known(full, (input) => read(nothing(input)), filled)
  }
  return make as never
}

const digits = (value: unknown) => (typeof value === 'number' ? String(value) : value)

/** A text; a number is taken as it is written. */
export const text = leaf<string>({ type: 'text' }, digits, z.string({ error: 'a text' }))

/** The name of something; a number is none. */
export const name = leaf<string>({ type: 'name' }, (value) => value, z.string({ error: 'a name' }))

/** A whole number of at least `min`. */
export function whole(min: number, max?: number): Leaf<number> {
  const error = max === undefined ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`
  const inner = z.int({ error }).min(min, { error })
  const read = (value: unknown) =>
    typeof value === 'string' && /^\s*[+-]?\d+(?:_\d+)*\s*$/.test(value) ? Number(value.replaceAll('_', '')) : value
  return leaf(
    { type: 'number', min, ...(max === undefined ? {} : { max }) },
    read,
    max === undefined ? inner : inner.max(max, { error }),
  )
}

// A timer cannot be longer than 2 ** 31 - 1 milliseconds: beyond that Node fires it at once.
/** Seconds of a timer. */
export const seconds = whole(1, 2_147_483)

const shareError = { error: 'a number above 0 and at most 1' }

/** A number above 0 and at most 1. */
export const share = leaf<number>(
  { type: 'share' },
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number(shareError).gt(0, shareError).lte(1, shareError),
)

const amountError = { error: 'a number above 0' }

/** A number above 0, with decimals. */
export const amount = leaf<number>(
  { type: 'amount' },
  (value) => (typeof value === 'string' && /^\s*(?:\d*\.)?\d+\s*$/.test(value) ? Number(value) : value),
  z.number(amountError).gt(0, amountError),
)

/** A number from `min` to `max`, with decimals. */
function decimal(min: number, max: number): Leaf<number> {
  const error = { error: `a number from ${min} to ${max}` }
  return leaf<number>(
    { type: 'decimal', min, max },
    (value) => (typeof value === 'string' && /^\s*(?:\d*\.)?\d+\s*$/.test(value) ? Number(value) : value),
    z.number(error).min(min, error).max(max, error),
  )
}

/** How much the words of an answer may differ from the likeliest ones. */
export const temperature = decimal(0, 2)

const word = (value: unknown) => (typeof value === 'object' ? '' : String(value).trim().toLowerCase())

const ON = ['true', 'yes', 'on', '1']
const OFF = ['false', 'no', 'off', '0']

/** Yes or no, in the words of YAML. */
export const flag = leaf<boolean>(
  { type: 'boolean' },
  (value) => {
    if (value === undefined || typeof value === 'boolean') return value
    return ON.includes(word(value)) ? true : OFF.includes(word(value)) ? false : value
  },
  z.boolean({ error: 'true or false' }),
)

/** One of some words; `words` maps what may be written to what it means. */
export function choice<const Words extends Readonly<Record<string, string>>>(words: Words): Leaf<Words[keyof Words]> {
  const meant = [...new Set(Object.values(words))]
  const read = (value: unknown) => {
    if (value === undefined) return undefined
    return Object.hasOwn(words, word(value)) ? words[word(value)] : NaN
  }
  return leaf({ type: 'choice', words }, read, z.enum(meant, { error: `one of ${meant.join(', ')}` }))
}

/** One of some words that mean themselves. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Leaf<Word> {
  return choice(Object.fromEntries(words.map((one) => [one, one])) as Record<Word, Word>) as Leaf<Word>
}

/** How much a model thinks. Other programs have words beyond both ends; they mean the nearest end. */
export const effort = choice({
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  none: 'minimal',
  xhigh: 'high',
  max: 'high',
  ultra: 'high',
})

type List<Item> = z.ZodDefault<z.ZodType<readonly Item[]>>

const textList = z.array(z.preprocess(digits, z.string({ error: 'a text' })), { error: 'a list of texts' })

const listed = (value: unknown) => (value === null ? undefined : value)

/** A list of texts, empty unless something else is given. */
export function texts(value?: readonly string[]): List<string> {
  const kind: Kind = { type: 'texts', ...(value === undefined ? {} : { default: value }) }
  return known(kind, listed, textList.default([...(value ?? [])]))
}

/** A list of texts, or nothing. */
export function someTexts(): z.ZodOptional<z.ZodType<readonly string[]>> {
  return known({ type: 'texts', optional: true }, listed, textList.optional())
}

/** Left as it is for whoever reads it. */
export function anything(): z.ZodOptional<z.ZodUnknown> {
  return known({ type: 'any' }, nothing, z.unknown().optional())
}

/** A list with anything inside. */
export function list(): List<unknown> {
  const inner = z.array(z.unknown(), { error: 'a list' }).default([])
  return known({ type: 'list' }, nothing, inner)
}

type Names<Value> = Readonly<Record<string, Value>>

/** A map with anything inside. */
export function map(): z.ZodDefault<z.ZodType<Names<unknown>>> {
  const inner = z.record(z.string(), z.unknown(), { error: 'a map' }).default({})
  return known({ type: 'map' }, nothing, inner)
}

/** A map with free names. */
export function record<Value extends z.ZodType>(of: Value): z.ZodDefault<z.ZodType<Names<z.output<Value>>>> {
  const inner = z.record(z.string(), of, { error: 'a map' }).default({})
  return known({ type: 'record', of }, nothing, inner)
}

type Shape = Readonly<Record<string, z.ZodType>>
type Settings<Fields extends Shape> = z.ZodType<Readonly<z.output<z.ZodObject<Fields>>>>
type More = Omit<Section, 'type' | 'fields' | 'optional'>

/** A map with known keys, with their defaults; others are kept as they are, unless it is closed. */
export function section<const Fields extends Shape>(fields: Fields, more: More = {}): z.ZodDefault<Settings<Fields>> {
  return known({ type: 'section', fields, ...more }, readSection(more), objectOf(fields, more).prefault({}))
}

/** Such a map, or nothing. */
export function someSection<const Fields extends Shape>(
  fields: Fields,
  more: More = {},
): z.ZodOptional<Settings<Fields>> {
  const kind: Kind = { type: 'section', fields, ...more, optional: true }
  return known(kind, readSection(more), objectOf(fields, more).optional())
}

function objectOf(fields: Shape, { isClosed, shorthand }: More) {
  const error = shorthand === undefined ? 'a map' : 'a text or a map'
  const known = `named one of ${Object.keys(fields).join(', ')}`
  if (!isClosed) return z.looseObject(fields, { error })
  return z.strictObject(fields, { error: ({ code }) => (code === 'unrecognized_keys' ? known : error) })
}

/** Brings a plain text and other names of keys to their key. */
function readSection({ shorthand, aliases = {} }: More) {
  return (input: unknown) => {
    const value = nothing(input)
    if (value === undefined) return undefined
    if (shorthand !== undefined && typeof value !== 'object') return { [shorthand]: value }
    if (typeof value !== 'object' || Array.isArray(value)) return value
    const entries = Object.entries(value as object)
    const has = (name: string) => Object.hasOwn(value as object, name)
    return Object.fromEntries(
      entries.flatMap(([name, item]) => {
        const key = Object.hasOwn(aliases, name) ? aliases[name]! : name
        return key === name ? [[name, item]] : has(key) ? [] : [[key, item]]
      }),
    )
  }
}

/** What a schema of these keys becomes in the table that is read at every start. Throws for a schema that no kind was made for. */
export function toField(schema: z.ZodType): Field {
  const kind = kindOf(schema)
  if (!kind) throw new Error('A key is made by one of the functions in kinds.ts.')
  if (kind.type === 'record') return { type: 'record', of: toField(kind.of) }
  if (kind.type !== 'section') return kind
  const fields = Object.entries(kind.fields).map(([key, inner]) => [key, toField(inner)] as const)
  return { ...kind, fields: Object.fromEntries(fields) }
}
