/** `create`, called once per key; later calls give the same value. */
export function oncePer<Key, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    const value = made.get(key) ?? create(key)
    made.set(key, value)
    return value
  }
}
