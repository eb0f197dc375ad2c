import { isMap, mapEntries, type Path } from './check-field.js'

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/g

/** A reference whose variable is not set. */
export interface Unset {
  readonly path: Path
  readonly name: string
}

/** Whether a value is a text with a `${VAR}` in it. */
export function hasReference(value: unknown): boolean {
  return typeof value === 'string' && value.search(REFERENCE) !== -1
}

/** Puts variables in place of `${VAR}` and `${env:VAR}` in every text. What is not set stays as written and is listed in `unset`. */
export function expandReferences(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  unset: Unset[],
  path: Path = [],
): unknown {
  if (Array.isArray(value)) return value.map((item, index) => expandReferences(item, env, unset, [...path, index]))
  if (isMap(value)) return mapEntries(value, (key, item) => expandReferences(item, env, unset, [...path, key]))
  if (typeof value !== 'string') return value
  return value.replace(REFERENCE, (written, name: string) => {
    const found = Object.hasOwn(env, name) ? env[name] : undefined
    if (found === undefined) unset.push({ path, name })
    return found ?? written
  })
}
