import { HermesError } from '@hermes/contracts'
import type { PoolEntry } from './entry.js'

/** The entry a person names by id, label or place in the list, counted from 1. @throws HermesError `credentials.unknown` */
export function findEntry(entries: readonly PoolEntry[], provider: string, name: string): PoolEntry {
  const found =
    entries.find(({ id, label }) => id === name || label === name) ??
    (/^[1-9]\d*$/.test(name) ? entries[Number(name) - 1] : undefined)
  if (found) return found
  const there = entries.length > 0 ? `There are: ${entries.map(({ label }) => label).join(', ')}.` : 'It has none.'
  throw new HermesError(`${provider} has no credential "${name}". ${there}`, { code: 'credentials.unknown' })
}
