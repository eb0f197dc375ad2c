import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkField, type Issue, isMap, type Path } from '../check-field.js'
import type { Field } from '../field.js'
import { SCHEMA } from '../schema.js'
import { CONFIG, toField, toJsonSchema } from './index.js'

/** What zod makes of a value: the same words, at the place where they were written. */
function byZod(value: unknown): { readonly issues: readonly Issue[]; readonly value?: unknown } {
  const result = CONFIG.safeParse(value)
  if (result.success) return { issues: [], value: result.data }
  const issues = result.error.issues.flatMap(({ path, message, ...issue }) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null]
    return keys.map((key) => {
      const place = written(value, key === null ? path : [...path, key])
      return { path: place, expected: message, found: key ?? at(value, place) }
    })
  })
  return { issues: issues.filter(({ path }, index) => issues.findIndex((one) => same(one.path, path)) === index) }
}

function byTable(value: unknown) {
  const issues: Issue[] = []
  const read = checkField(SCHEMA, value, [], { issues })
  return issues.length > 0 ? { issues } : { issues, value: read }
}

const same = (one: Path, other: Path) => one.join('\0') === other.join('\0')
const at = (value: unknown, path: Path) => path.reduce<unknown>((inner, key) => (inner as never)?.[key], value)

/** A path of zod as it stands in the file: a plain text is not below its section, another name of a key stays that. */
function written(value: unknown, path: readonly PropertyKey[]): Path {
  const place: (string | number)[] = []
  let field: Field | null = SCHEMA
  for (const key of path as Path) {
    const here = at(value, place)
    if (field?.type === 'section' && field.shorthand === key && typeof here !== 'object') break
    const {
      aliases = {},
      fields,
    }: { aliases?: Readonly<Record<string, string>>; fields?: Readonly<Record<string, Field>> } =
      field?.type === 'section' ? field : {}
    const other = Object.keys(aliases).find((name) => aliases[name] === key && isMap(here) && !Object.hasOwn(here, key))
    place.push(other ?? key)
    field = field?.type === 'record' ? field.of : (fields?.[key as string] ?? null)
  }
  return place
}

/** Values that a key may meet, right and wrong. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'on', 'Off', 'yes', '0', ' 12 ', '1_000', '-3', '0.5', '.5', '1.5', ' ', 'ASK'),
  fc.constantFrom<unknown>(true, false, 0, 1, -1, 0.2, 1.5, 70_000, 3e9, Number.MAX_SAFE_INTEGER, 2 ** 53, [], {}),
  fc.string({ maxLength: 5 }),
  fc.array(fc.constantFrom<unknown>('a', '', 3, null, true, ['x'], {}), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'tokens', 'model'), fc.constantFrom<unknown>('a', 1, null), { maxKeys: 2 }),
)

const NAMES = fc.constantFrom('acme', 'b')

/** Values of a field that are right more often than not, so that what is inside of them is met too. */
function anyOf(field: Field): fc.Arbitrary<unknown> {
  const right = rightOf(field)
  return field.type === 'section'
    ? fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: odd })
    : fc.oneof(right, odd)
}

function rightOf(field: Field): fc.Arbitrary<unknown> {
  switch (field.type) {
    case 'number':
      return fc
        .integer({ min: field.min - 1, max: (field.max ?? 100_000) + 1 })
        .chain((n) => fc.constantFrom(n, String(n)))
    case 'share':
    case 'amount':
    case 'decimal':
      return fc.constantFrom<unknown>(0, 0.5, 1, 1.01, -1, '0', '0.5', '.5', '1.', '2')
    case 'boolean':
      return fc.constantFrom<unknown>(true, false, 'yes', 'No', 'ON', 'off', 0, 1, '0', '1', 2, 'y')
    case 'choice':
      return fc.constantFrom(...Object.keys(field.words))
    case 'record':
      return fc.dictionary(NAMES, anyOf(field.of), { maxKeys: 2 })
    case 'section': {
      const { fields, aliases = {} } = field
      const names = [...Object.keys(aliases), ...Object.keys(fields)]
      const entry = fc.constantFrom(...names).chain((name) => {
        const inner = fields[aliases[name] ?? name]!
        return anyOf(inner).map((value) => [name, value] as const)
      })
      const stray = fc.tuple(fc.constantFrom('stray', 'other'), odd)
      const one = fc.oneof({ weight: 15, arbitrary: entry }, { weight: 1, arbitrary: stray })
      return fc.array(one, { maxLength: 5 }).map((entries) => Object.fromEntries(entries))
    }
    default:
      return odd
  }
}

describe('the keys of config.yaml', () => {
  it('are in the table that is read at a start', () => {
    expect(toField(CONFIG)).toEqual(SCHEMA)
  })

  it('mean the same to zod and to the table: values, verdicts and words', () => {
    const check = (value: unknown) => {
      const [zod, table] = [byZod(value), byTable(value)]
      const sorted = (issues: readonly Issue[]) =>
        issues
          .map(({ path, ...rest }) => ({ path: path.join('.'), ...rest }))
          .sort((a, b) => (a.path < b.path ? -1 : 1))
      expect(sorted(zod.issues)).toEqual(sorted(table.issues))
      expect(zod.value).toEqual(table.value)
    }
    fc.assert(fc.property(anyOf(SCHEMA), check), { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 150) })
    for (const [key, field] of Object.entries(SCHEMA.fields))
      fc.assert(
        fc.property(anyOf(field), (value) => check({ [key]: value })),
        { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 12) },
      )
  })

  it('are described for editors so that what is right is not underlined', () => {
    const text = readFileSync(`${import.meta.dirname}/../../generated/config.schema.json`, 'utf8')
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(toJsonSchema(CONFIG))))
    const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(text) as object)
    fc.assert(
      fc.property(anyOf(SCHEMA), (value) => {
        // Words are taken in any case, which a schema cannot say.
        fc.pre(isMap(value) && byTable(value).issues.length === 0 && !/[A-Z]/.test(JSON.stringify(value)))
        isValid(value)
        expect(isValid.errors ?? []).toEqual([])
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
    for (const wrong of [
      { approvals: { mode: 'sometimes' } },
      { agent: { max_turns: 0 } },
      { toolsets: 'a' },
      { agent: [] },
    ])
      expect(isValid(wrong), JSON.stringify(wrong)).toBe(false)
  })
})
