/** {@link oncePer}'s function, and the way to forget what it made. */
interface OncePer<Key, Value> {
  (key: Key): Value
  clear(): void
}

/** `create`, called once per key; later calls give the same value until it is cleared. */
export function oncePer<Key, Value>(create: (key: Key) => Value): OncePer<Key, Value> {
  const made = new Map<Key, Value>()
  const get = (key: Key): Value => {
    const value = made.get(key) ?? create(key)
    made.set(key, value)
    return value
  }
  return Object.assign(get, { clear: () => made.clear() })
}
