import type { Action, Permit } from '@hermes/contracts/policy'
import type { Socket } from '../wire/socket-connection.js'

/** What browsers elsewhere need of a home. */
export interface CloudPort {
  /** `.env` and the environment, for keys and addresses. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** A `fetch` to the origin of an address and nowhere else. */
  readonly fetchTo: (address: string) => typeof globalThis.fetch
  /** Opens a WebSocket to an address that leave was given for. */
  readonly openSocket: (address: string) => Socket
  /** Leave for a request to who the person chose. @throws HermesError `policy.denied`. */
  readonly permit: (action: Action) => Promise<Permit>
}
