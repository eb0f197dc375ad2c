/** More turns than that are never under way at once. */
const KEPT_TURNS = 32

/** Sets a value and forgets the oldest one beyond the last few. */
export function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > KEPT_TURNS && oldest !== undefined) map.delete(oldest)
}
