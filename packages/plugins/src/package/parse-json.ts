import { isValueTooDeep } from '@hermes/contracts'

/** What a file of a package holds. Throws with one line for what is no JSON, and for what is nested more than 200 deep. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (isValueTooDeep(value)) throw new Error('it is nested more than 200 deep')
  return value
}
