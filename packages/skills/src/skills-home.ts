import type { Clock, Logger } from '@hermes/contracts'
import type { OutsideEvent, SkillChangeEvent } from '@hermes/contracts/extension'
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
  /** Whether sessions are looked back at when they were left, for skills that are worth keeping or mending. */
  readonly look_back: boolean
  /** Sources whose skills need no `--force` for what the scanner finds. */
  readonly trusted_sources: readonly string[]
  /** Signed lists of skills by name, and who signs them. */
  readonly packs: Readonly<Record<string, PackSettings | undefined>>
}

/** Where a pack lies: an address or a file; and `ed25519:` with the public key that signs it. */
interface PackSettings {
  readonly from?: string | undefined
  readonly key?: string | undefined
}

/** `curator` of config.yaml. */
interface CuratorSettings {
  readonly enabled: boolean
  readonly interval_hours: number
  readonly stale_after_days: number
  readonly archive_after_days: number
}

/** A failure that was met again and again, and what helped. */
export interface OftenMet {
  readonly id: number
  readonly pattern: string
  readonly fix: string
  /** The program or file it was about; may be empty. */
  readonly subject: string
  /** Names of text from outside that it may come from. */
  readonly taintedBy: readonly string[]
}

/** Something that was learnt and is no skill. */
export interface LearntItem {
  /** Unique among all that was learnt: `l12`. */
  readonly id: string
  readonly atMs: number
  readonly kind: 'failure' | 'note'
  /** What was learnt. */
  readonly what: string
  /** What it came of, for a person. */
  readonly from: string
}

/** What else of the home learns. Its methods reject as the store does. */
interface LearntElsewhere {
  /** Failures of the person that were met as often as this. */
  often(times: number): Promise<readonly OftenMet[]>
  /** Oldest first. */
  list(): Promise<readonly LearntItem[]>
  /** Takes one back; `null` for what is not known, else a line for the person. */
  undo(id: string): Promise<string | null>
}

/** What a program came to. */
interface ProgramResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A skill that an MCP server hands out. Its words are the server's. */
interface ServedSkill {
  readonly name: string
  readonly description: string
  readonly size: { readonly files: number; readonly bytes: number }
  /** Its files, each as the server's list says it is. Rejects with one line. */
  read(signal: AbortSignal): Promise<readonly { readonly path: string; readonly bytes: Uint8Array }[]>
}

/** What skills need of a home. All paths absolute. */
export interface SkillsHome {
  /** Where the home's own skills lie, and what is installed below `.hub` of it; made on first write. */
  readonly directory: string
  /** Where writes wait for a person. */
  readonly pendingDirectory: string
  /** Where bundles lie, a file each. */
  readonly bundlesDirectory: string
  readonly cacheFile: string
  /** Of the person. */
  readonly userHome: string
  /** Where the home was opened. */
  readonly cwd: string
  readonly settings: SkillSettings
  /** Folders with skills of plugins that a person agreed to, as long as they are what was agreed to. Never rejects. */
  ofPlugins(): Promise<readonly { readonly plugin: string; readonly folder: string }[]>
  /** Folders with skills of all plugins that are there, agreed to or not. Never rejects. */
  pluginPlaces(): Promise<readonly { readonly folder: string; isAgreed(): Promise<boolean> }[]>
  /** What an MCP server of the home hands out, by the policy. Rejects with one line. */
  ofServer(server: string, signal: AbortSignal): Promise<readonly ServedSkill[]>
  /** Without skills of others: only those of the home and those that come with Hermes. */
  readonly isSafe: boolean
  /** `linux`, `macos` or `windows`. */
  readonly os: string
  /** Whether somebody may type commands: skills and bundles are commands of their names then. Default `true`. */
  readonly takesCommands?: boolean
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
  /** Whom a session serves; `null` for the owner of the home. Rejects as the store does. */
  personOf(sessionId: string): Promise<string | null>
  readonly curator: CuratorSettings
  readonly learnt: LearntElsewhere
  /** Has a model do a task beside the conversation. Rejects as it does, and on abort. */
  ask(
    request: { readonly task: 'background_review' | 'curator'; readonly system: string; readonly text: string },
    scope: { readonly sessionId: string | null; readonly signal: AbortSignal },
  ): Promise<string>
  /** Is told of each change, once it is made. Must not throw, and nothing waits for it. Default: nobody is told. */
  readonly onChange?: (change: Omit<SkillChangeEvent, keyof OutsideEvent>) => void
  readonly clock: Clock
  readonly logger: Logger
}
