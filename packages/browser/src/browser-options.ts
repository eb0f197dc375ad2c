import type { LookupAddress } from 'node:dns'
import type { Clock, Logger } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import type { CheckUrlOptions, Proxies } from '@hermes/safety'
import type { CloudPort } from './cloud/cloud-port.js'

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
  /** For what pages download and pictures of them, a folder for each session. Absolute; made on first use. */
  readonly downloadDir: string
  /** For recordings of sessions, a folder for each. Absolute; made on first use. */
  readonly recordingDir: string
  /** A file for a page, as the policy lets a call read it. */
  readonly readFile: (path: string, call: ToolContext) => Promise<Uint8Array>
  /** What a call gives for a picture: the picture to a model that sees, else what it shows. */
  readonly showImage: (
    bytes: Uint8Array,
    about: { readonly place: string; readonly question: string; readonly call: ToolContext },
  ) => Promise<ToolResult>
  /** The logins of the person. Absolute; there once one was saved. */
  readonly vaultFile: string
  /** Opens them where nobody can be asked; `null` asks. */
  readonly vaultPassphrase: string | null
  /** Cookies and storage of profiles that the person named, a file each. Absolute; made on first use. */
  readonly profileDir: string
  /** Takes a secret out of logs and of all that is shown from now on. */
  readonly conceal: (secret: string) => void
  /** For browsers that run elsewhere. */
  readonly cloud: CloudPort
  readonly proxies: Proxies | null
  readonly network: CheckUrlOptions
  /** All addresses of a host. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
  readonly clock: Clock
  readonly logger: Logger
}
