import type * as z from 'zod'
import { ApiError } from './api-error.js'

/** Says of a value that a check refuses with which stable word it is refused, and in which words after the name of the field. */
export function refusedAs(code: string, error: string) {
  return { error, params: { code } }
}

/** More than any request needs, and less than what writes JSON can go down. */
const MAX_DEPTH = 100

/**
 * The body of a request as a schema has it.
 * @throws ApiError 400 naming the first field that is wrong
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw new ApiError(`The body is not valid JSON: ${(error as Error).message}.`, { code: 'invalid_json' })
  }
  if (isDeeperThan(body, MAX_DEPTH))
    throw new ApiError(`The body is nested deeper than ${MAX_DEPTH} levels.`, { code: 'invalid_json' })
  const { data, error } = schema.safeParse(body)
  if (error) throw refusal(error.issues[0]!, body)
  return data
}

/** Level by level: a value may be nested deeper than functions can call themselves. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}

/** The stable word for a part of a kind that is not known, by the field that tells kinds apart. */
const UNKNOWN_KIND: Readonly<Record<string, string>> = { type: 'unsupported_content_type', role: 'invalid_value' }

function refusal(issue: z.core.$ZodIssue, body: unknown): ApiError {
  const { path } = issue
  const param = path
    .reduce<string>((all, key) => all + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`), '')
    .slice(1)
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], body)
  const wrong = (code: string, what: string) =>
    new ApiError(param === '' ? `The body ${what}` : `'${param}' ${what}`, { code, ...(param === '' ? {} : { param }) })
  const wrongType = (expected: string) =>
    wrong('invalid_type', `has to be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}, not ${kindOf(value)}.`)
  switch (issue.code) {
    case 'custom':
      return wrong(String(issue.params?.['code']), issue.message)
    case 'invalid_type':
      if (value === undefined && path.length === 1) return wrong('missing_required_parameter', 'is missing.')
      return wrongType(issue.expected === 'record' ? 'object' : issue.expected)
    case 'invalid_union': {
      if (issue.errors.length === 0) {
        const code = UNKNOWN_KIND[String(path.at(-1))] ?? 'invalid_value'
        return typeof value === 'string'
          ? wrong(code, `is ${JSON.stringify(value)}; it ${issue.message}`)
          : wrongType('string')
      }
      // Of the kinds that it could be, the one that it is of but for something inside.
      const inner = issue.errors.flat().find((each) => each.path.length > 0)
      return inner ? refusal({ ...inner, path: [...path, ...inner.path] }, body) : wrongType(issue.message)
    }
    default:
      return wrong('invalid_value', issue.message)
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
