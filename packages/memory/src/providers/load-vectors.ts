import { HermesError } from '@hermes/contracts'

/** The extension of SQLite that compares vectors; few need it, so it does not come with this package. */
type VectorExtension = Pick<typeof import('sqlite-vec'), 'load'>

/** @throws HermesError `memory.provider_unavailable` when the package `sqlite-vec` is not installed beside this program. */
export async function loadVectors(): Promise<VectorExtension> {
  const wanted: string = 'sqlite-vec'
  try {
    return (await import(wanted)) as VectorExtension
  } catch (cause) {
    const message =
      'The local store of memories needs the package sqlite-vec. Install it beside Hermes: npm i -g sqlite-vec'
    throw new HermesError(message, { code: 'memory.provider_unavailable', cause })
  }
}
