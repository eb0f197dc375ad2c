import type { Field } from './field.js'
import { SCHEMA } from './generated/schema.js'

// The keys themselves are in keys/, written with zod; the table that is read here is made of them by `pnpm gen`.
export { SCHEMA }

/** Sections whose keys are names of platforms: an extension may bring others. */
export const PLATFORM_SECTIONS: readonly string[] = ['platforms', 'platform_hints', 'platform_toolsets']

/** The field of a key path; `null` when the schema has none there. */
export function fieldAt(path: readonly string[]): Field | null {
  let field: Field | null = SCHEMA
  for (const key of path) {
    if (field?.type === 'section') field = Object.hasOwn(field.fields, key) ? field.fields[key]! : null
    else field = field?.type === 'record' ? field.of : null
  }
  return field
}

/** A dotted key as a path, other names of keys brought to the usual one. */
export function keyPath(key: string): readonly string[] {
  const path = key.split('.')
  return path.map((name, index) => {
    const parent = fieldAt(path.slice(0, index))
    return (parent?.type === 'section' && parent.aliases?.[name]) || name
  })
}
