import { HermesError } from '@hermes/contracts'

/** Keys of `state_meta` that begin so are the store's own, whatever the dialect. */
const OWN = 'hermes_'

/** @throws HermesError `store.reserved_key` for the keys of the store itself. */
export function requireFreeKey(key: string): void {
  if (!key.startsWith(OWN)) return
  throw new HermesError(`Keys that begin with ${OWN} belong to the store itself; choose another one than "${key}".`, {
    code: 'store.reserved_key',
    details: { key },
  })
}
