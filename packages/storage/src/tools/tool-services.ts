import type { Storage } from '../storage.js'

/** What the tools of this package need of a home. */
export interface StorageToolServices {
  /** The open store; asked for with the first call. */
  storage(): Promise<Storage>
}
