import { isJsonObject, type JsonObject } from '@hermes/contracts'

/** Whether a schema has a reference within itself that leads nowhere, or to itself again and again: no argument can be held against that. */
export function isUnresolved(schema: JsonObject): boolean {
  // Not by recursion: it may be as deep as its server likes.
  const left: unknown[] = [schema]
  while (left.length > 0) {
    const value = left.pop()
    if (isJsonObject(value) && leadsNowhere(schema, value['$ref'])) return true
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) left.push(one)
  }
  return false
}

function leadsNowhere(schema: JsonObject, first: unknown): boolean {
  const seen = new Set<string>()
  // Names of anchors and other documents are what only a whole resolver knows.
  for (let ref = first; typeof ref === 'string' && /^#(?:\/|$)/.test(ref); ) {
    if (seen.has(ref)) return true
    seen.add(ref)
    const target = ref.split('/').slice(1).reduce<unknown>(stepInto, schema)
    if (target === undefined) return true
    ref = isJsonObject(target) ? (target['$ref'] as string) : ''
  }
  return false
}

function stepInto(value: unknown, step: string): unknown {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}
