import type { Clock, Logger } from '@hermes/contracts'
import type { FolderTrust } from '@hermes/contracts/policy'

/** `skills` of config.yaml. */
export interface SkillSettings {
  /** Folders with skills besides those of the home; `~` and paths relative to the home folder are resolved already. */
  readonly external_dirs: readonly string[]
  /** Names of skills that are switched off. */
  readonly disabled: readonly string[]
  /** Whether what an agent writes waits for a person. */
  readonly write_approval: boolean
  /** Whether trusted projects bring skills. */
  readonly project_discovery: boolean
}

/** What a program came to. */
interface ProgramResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What skills need of a home. All paths absolute. */
export interface SkillsHome {
  /** Where the home's own skills lie, and what is installed below `.hub` of it; made on first write. */
  readonly directory: string
  /** Where writes wait for a person. */
  readonly pendingDirectory: string
  readonly cacheFile: string
  /** Of the person. */
  readonly userHome: string
  /** Where the home was opened. */
  readonly cwd: string
  readonly settings: SkillSettings
  /** Without skills of others: only those of the home and those that come with Hermes. */
  readonly isSafe: boolean
  /** `linux`, `macos` or `windows`. */
  readonly os: string
  readonly trust: FolderTrust
  /** Whether a variable is set, in `.env` or the environment. */
  hasVariable(name: string): boolean
  /** Takes registered secrets out of a text. */
  redact(text: string): string
  /** Switches a skill off or on in config.yaml. */
  setDisabled(name: string, isDisabled: boolean): Promise<void>
  /** Runs git as the person who asked for it. */
  run(
    argv: readonly [string, ...string[]],
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<ProgramResult>
  /** Gets what the person named, by the policy. Rejects with one line. */
  fetch(url: string, options: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Uint8Array>
  readonly clock: Clock
  readonly logger: Logger
}
