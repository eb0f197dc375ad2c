import type { LookupAddress } from 'node:dns'
import type { Clock, Logger } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { CheckUrlOptions, Proxies } from '@hermes/safety'

/** What the browser needs of a home. */
export interface BrowserOptions {
  /** Starts a program of this machine that is spoken to on its descriptors 3 and 4, against a permit of its own. */
  readonly start: (argv: readonly [string, ...string[]]) => Promise<RunningProgram>
  /** `PATH`, and where programs are installed. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Chromium's own sandbox does not work for root. */
  readonly isRoot: boolean
  /** For profiles of running browsers and what they download. Absolute; made on first use. */
  readonly cacheDir: string
  readonly proxies: Proxies | null
  readonly network: CheckUrlOptions
  /** All addresses of a host. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
  readonly clock: Clock
  readonly logger: Logger
}
