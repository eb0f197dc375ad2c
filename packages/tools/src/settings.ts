import { type Clock, systemClock } from '@hermes/contracts'
import type { ImagePart } from '@hermes/contracts/conversation'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { IsolationSupport } from '@hermes/sandbox'
import type { DocumentLimits } from './documents/document-kind.js'
import type { SharedFiles } from './files/shared-files.js'
import type { SudoSettings } from './terminal/sudo.js'

/** Limits of the tools of this package. */
export interface ToolSettings {
  /** Longest page `read_file` gives, in characters. A longer one is refused, not cut. Default 100,000. */
  readonly fileReadMaxChars: number
  /** Most lines of one `read_file` page. Default 2,000. */
  readonly maxLines: number
  /** Characters after which a line is cut in `read_file`. Default 2,000. */
  readonly maxLineLength: number
  /** Output of a command the model sees, in bytes; the rest is on disk. Default 50,000. */
  readonly outputMaxBytes: number
  /** Default 180,000. */
  readonly terminalTimeoutMs: number
  /** Longest foreground command. Default 600,000. */
  readonly terminalMaxTimeoutMs: number
  /** Whether a file that was written is shown to the linter that its project is set up for. Default: yes. */
  readonly lint: boolean
  /**
   * Whether the person trusts the project that a path of this machine belongs to, so that its linter may run by itself. Default: they trust
   * every project.
   */
  readonly trusts?: (path: string) => Promise<boolean>
  /** A linter that takes longer is not asked again in the session. Default 3,000. */
  readonly lintTimeoutMs: number
  /** Whether the model of a session can look at images, which `read_file` then shows. Default: no. */
  readonly seesImages: (sessionId: string) => boolean | Promise<boolean>
  /** What an image shows, told by a model that sees. Rejects with one line when none can. Default: nobody tells it. */
  readonly describeImage?: (
    image: ImagePart,
    options: { readonly about: string; readonly sessionId: string; readonly signal: AbortSignal },
  ) => Promise<{ readonly text: string; readonly by: string }>
  /** What a public address leads to, with leave for each hop. Rejects with one line. Default: addresses are refused. */
  readonly fetchBytes?: (
    url: string,
    options: {
      readonly permit: (action: Action) => Promise<Permit>
      readonly signal: AbortSignal
      readonly maxBytes: number
    },
  ) => Promise<{ readonly status: number; readonly body: Uint8Array; readonly isCut: boolean }>
  /** What reading a PDF, an Office file or a notebook may take. Default: 512 MiB of memory, 20 seconds. */
  readonly documentLimits: DocumentLimits
  /** What is known of this machine, whose isolation documents are read in. Default: a look for each document. */
  readonly isolationSupport?: IsolationSupport
  /** Shared by agents that work on the same files at the same time. Default: none, each for itself. */
  readonly sharedFiles?: SharedFiles
  /** How `terminal` comes by a password for `sudo`. Default: not at all. */
  readonly sudo?: SudoSettings
  /** What redaction puts in place of a secret; never written into a file that does not hold it. Default `[REDACTED]`. */
  readonly redactionMarker: string
  /** Default: the machine's. */
  readonly clock: Clock
}

/** The defaults documented at {@link ToolSettings}. */
export const defaultToolSettings: ToolSettings = Object.freeze({
  fileReadMaxChars: 100_000,
  maxLines: 2000,
  maxLineLength: 2000,
  outputMaxBytes: 50_000,
  terminalTimeoutMs: 180_000,
  terminalMaxTimeoutMs: 600_000,
  lint: true,
  lintTimeoutMs: 3_000,
  seesImages: () => false,
  documentLimits: { maxResidentBytes: 512 * 2 ** 20, timeoutMs: 20_000 },
  redactionMarker: '[REDACTED]',
  clock: systemClock,
})
