/** Anything that survives `JSON.parse(JSON.stringify(x))`. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue }

/** Whether `value` is a plain object, not an array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
