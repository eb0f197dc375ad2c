import type { CloudOptions } from '../cloud/open-cloud.js'

/** What `openVercelEnvironment` needs. Nothing is read from this program's own environment. */
export interface VercelOptions extends CloudOptions {
  readonly token: string
  readonly teamId: string
  readonly projectId: string
  /** `node24`, `node22` or `python3.13`. Default `node24`. */
  readonly runtime?: string
  /** MB; the service's disk has one size, so anything but 0 and 51,200 is refused. */
  readonly diskMb?: number
  /** Default: the program's own. */
  readonly fetch?: typeof fetch
}
