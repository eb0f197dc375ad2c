import type { Clock } from '@hermes/contracts'
import type { Storage } from '../storage.js'

/** Opens an empty store that goes with the test. */
export type OpenStore = (options?: { readonly clock?: Clock }) => Promise<Storage>
