/** Anything that survives `JSON.parse(JSON.stringify(x))`. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue }

/** Whether `value` is a plain object, not an array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const MAX_DEPTH = 200

/** Whether objects and lists are nested more than 200 deep: whatever walks them by calling itself would run out of stack. */
export function isValueTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    const next: unknown[] = []
    for (const one of level)
      if (typeof one === 'object' && one !== null)
        for (const inner of Object.values(one)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    level = next
  }
  return false
}

/** Lists and keys that open on one line: each is a level. */
const OPENINGS = /(?:[-?:][ \t]+){200}/

/**
 * Whether brackets, lists or keys of a text in YAML are nested more than 200 deep. A parser's time grows with the square of the depth and more,
 * up to minutes for a few kilobytes. Counts those in strings too.
 */
export function isNestedTooDeep(text: string): boolean {
  if (OPENINGS.test(text)) return true
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1)
    if (depth > MAX_DEPTH) return true
  }
  return false
}
