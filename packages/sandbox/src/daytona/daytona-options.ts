import type { CloudOptions } from '../cloud/open-cloud.js'

/** What `openDaytonaEnvironment` needs. Nothing is read from this program's own environment. */
export interface DaytonaOptions extends CloudOptions {
  readonly apiKey: string
  /** Default `https://app.daytona.io/api`. */
  readonly apiUrl?: string
  /** Where sandboxes run, for example `us`. Default: the organization's. */
  readonly target?: string
  /** An image of a public registry, or the name of a snapshot when it has no `:` and no `/`. Default: the service's own. */
  readonly image?: string
  /** Default: the service's. It gives 10 GiB at most, and what is more is cut to that. */
  readonly diskMb?: number
}
