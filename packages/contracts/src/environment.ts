import type { Readable, Writable } from 'node:stream'
import type { Permit } from './policy.js'

/** What kind of thing a path is. */
export interface FileStat {
  readonly type: 'file' | 'directory' | 'other'
  readonly sizeBytes: number
  readonly modifiedMs: number
  /** Permission bits, for example 0o644. */
  readonly mode: number
  /** Changes whenever the content may have changed; compare for equality only. */
  readonly version: string
}

/** One thing in a directory: its name without the path, and what it is itself, links not followed. */
export interface DirectoryEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'link' | 'other'
}

/** Which of many files are wanted, and until when. */
export interface ReadManyOptions {
  /** Larger files are left out. */
  readonly maxBytes: number
  /** Only files that hold at least one of these. Default: all. */
  readonly containing?: readonly Uint8Array[]
  /** Abort rejects with its reason. */
  readonly signal: AbortSignal
}

/** A whole file; `path` as it was asked for. */
export interface FileContent {
  readonly path: string
  readonly bytes: Uint8Array
}

/** How a finished command ended: a value, never an exception. */
export interface ExecResult {
  /** `null` when a signal ended it. 124 after a timeout, 130 after an interrupt. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly canceled: boolean
  readonly durationMs: number
  /** Standard output and error in the order they came; head and tail when it was longer than `maxOutputBytes`. */
  readonly output: string
  readonly outputBytes: number
  /** Where the full text is when `output` was cut. */
  readonly fullOutputPath: string | null
  /** How many bytes of it are there, from the first on. Default: all. */
  readonly savedBytes?: number
  /** What the command became when `yieldSignal` fired before it had ended; it goes on. The rest says how things stood then. */
  readonly process?: BackgroundProcess
  /** The shell's directory afterwards. */
  readonly cwd: string
}

/** How one command runs in the shell. */
export interface ExecOptions {
  /** Runs here instead of the persistent directory, and leaves that unchanged. Absolute. */
  readonly cwd?: string
  /** Added to the persistent environment for this command only. */
  readonly env?: Readonly<Record<string, string>>
  /** Text for standard input; without it the command reads end of file. */
  readonly stdin?: string
  /** What `sudo` in the command line is told when it asks for a password; see `Environment.sudo`. Neither an argument nor a variable. */
  readonly sudoPassword?: string
  /** Default 180,000. At the limit the whole process tree is killed. */
  readonly timeoutMs?: number
  /** Default 50,000: 40 % of it head, 60 % tail. */
  readonly maxOutputBytes?: number
  /** Aborting kills the whole process tree within two seconds and resolves with `canceled`. */
  readonly signal?: AbortSignal
  /**
   * Runs beside the shell, for work nobody asked for as a command: it is not kept waiting for the user's start-up files, and changes neither
   * directory nor variables. Default `false`.
   */
  readonly aside?: boolean
  /**
   * Runs in a copy of the shell's directory and variables that is thrown away, so that other such commands may run at the same time.
   * Default `false`.
   */
  readonly throwAway?: boolean
  /**
   * Lets the command go on as a background process, which ends with this program, and resolves with it; directory and variables stay as they
   * were. Environments that cannot do that wait for the command.
   */
  readonly yieldSignal?: AbortSignal
  /** Output as it comes. Must not throw. */
  readonly onOutput?: (text: string) => void
  /**
   * Runs outside the isolation, see `capabilities.outside`; the permit has to say so. It gets the variables the environment was opened
   * with: none that a command inside may have set. Only its directory persists. Default `false`.
   */
  readonly outside?: boolean
  /** `off`: an isolated command reaches nothing but a loopback that all such commands share. The permit has to say the same. Default `on`. */
  readonly network?: 'on' | 'off'
}

/** Where and how a background process runs. */
export interface SpawnOptions {
  /** Absolute. Default: the shell's directory. */
  readonly cwd?: string
  /** Added to the shell's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** On a pseudo-terminal; see `capabilities.pty`. Default `false`. */
  readonly pty?: boolean
  /** As of `ExecOptions`, for as long as the process runs. */
  readonly sudoPassword?: string
  /** As of `ExecOptions`. */
  readonly outside?: boolean
  /** As of `ExecOptions`. */
  readonly network?: 'on' | 'off'
}

/** A background process as its table shows it. */
export interface ProcessInfo {
  readonly id: string
  readonly command: string
  readonly cwd: string
  readonly pid: number
  readonly status: 'running' | 'exited'
  readonly exitCode: number | null
  readonly signal: string | null
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  /** It runs on a pseudo-terminal: Enter is a carriage return there. Default `false`. */
  readonly pty?: boolean
}

/** Told of what a process does. Must not throw. */
export interface ProcessObserver {
  /** New output, some hundred milliseconds after it was written. */
  readonly onOutput?: (text: string) => void
  /** Once, after the last output. Soon after for a process that had ended already. */
  readonly onExit?: (info: ProcessInfo) => void
}

/** A process that outlives the call that started it. */
export interface BackgroundProcess {
  info(): ProcessInfo
  /** The output so far, oldest first; only the newest 200,000 characters are kept. */
  output(): string
  /** Resolves when the process ended, or after `timeoutMs` with `null`. Abort stops waiting, not the process, and rejects. */
  wait(options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<ProcessInfo | null>
  /** Writes to standard input; `false` when it is closed. */
  write(text: string): boolean
  closeInput(): void
  /** Tells `observer` what happens from now on. Returns how to stop. Keeps neither the process nor the program alive. */
  observe(observer: ProcessObserver): () => void
  /** Ends the whole tree within two seconds: SIGTERM, then SIGKILL for what is left. */
  kill(): Promise<void>
}

/** A program that is started without a shell in between, to be spoken to. */
export interface ProgramRequest {
  /** The program, looked for on `PATH` unless its name has a slash, and its arguments. */
  readonly argv: readonly [program: string, ...args: string[]]
  /** Absolute. Default: the shell's directory. */
  readonly cwd?: string
  /** Added to the shell's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** As of `ExecOptions`. */
  readonly outside?: boolean
  /** As of `ExecOptions`. */
  readonly network?: 'on' | 'off'
  /**
   * The program is spoken to on its descriptors 3 (it reads) and 4 (it writes), as browsers are; its standard input and output are empty.
   * Only environments of this machine can. Default `false`.
   */
  readonly onDescriptors?: boolean
}

/** How a program ended. Behind a client program such as `ssh` a signal may be told as exit code 128 plus its number. */
export interface ProgramEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A program that runs, with its three streams of bytes as they are. A stream that nobody reads makes it wait. */
export interface RunningProgram {
  /** What is written after the program has gone is dropped. */
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves once it has ended; what it left in its process group is ended then. Never rejects. */
  readonly ended: Promise<ProgramEnd>
  /** Ends it and all it started within two seconds: SIGTERM, then SIGKILL for what is left. */
  kill(): Promise<void>
}

/** The command line that the permit for a program names. */
export function programLine(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}

/** What is known of `sudo` in an environment. */
export interface SudoAccess {
  /** Whether `sudo` would ask for a password now; `false` also where there is no `sudo`. Never rejects. */
  needsPassword(): Promise<boolean>
}

/** What an environment says about itself, for the system prompt. */
export interface EnvironmentProbe {
  readonly backend: string
  readonly os: string
  readonly user: string
  readonly home: string
  readonly cwd: string
  readonly shell: string
}

/** A file that is another one than it was, or came. Texts are `null` where there was none, or it is too large to be kept. */
export interface FileChange {
  /** Absolute. */
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** Files as they were at one time. */
export interface RememberedFiles {
  /** Those that changed or came since. */
  changes(): readonly FileChange[]
  /** Whether nothing was left out when they were remembered, and when `changes` looked last. */
  isWhole(): boolean
  /** Whether another file named this one, absolute, when they were remembered. */
  isNamed(path: string): boolean
  /**
   * Makes a file what it was, where that can be done. Takes no permit: it only undoes what had none. What stood there is kept in the file
   * `aside`, for a person may have written it; `null` where it was no file, or is large. Never throws.
   */
  putBack(path: string): { readonly isBack: boolean; readonly aside: string | null }
}

/**
 * Where commands run and files live: this machine, a container, a host behind ssh. One per agent: the shell's directory and
 * exported variables persist from one `exec` to the next. Missing files are `null`, not exceptions; other failures throw
 * `HermesError` `environment.*` with a line the model can act on.
 */
export interface Environment {
  readonly backend: string
  readonly capabilities: {
    readonly background: boolean
    readonly pty: boolean
    readonly isolated: boolean
    /** Commands are isolated, and with leave one can run outside. Default `false`. */
    readonly outside?: boolean
    /** Where isolated commands may write; absolute. Set where `outside` is. */
    readonly writable?: readonly string[]
    /** Whether isolated commands do not see what is at the absolute `path`. Answers `false` before the first of them ran. */
    readonly hides?: (path: string) => boolean
    /** Variables that commands do not get because they look like credentials. Default none. */
    readonly withheld?: readonly string[]
    /** Isolated commands reach the network only until text from outside was read: ask with `network`. Default `false`. */
    readonly asksForNetwork?: boolean
    /** Isolated commands reach no network. Default `false`. */
    readonly offline?: boolean
  }
  /** Where the shell was when the environment was opened: the workspace. Missing where nobody knows. */
  readonly root?: string
  /** Where relative paths start: the persistent shell's directory. */
  cwd(): string
  /** Absolute form of `path`: `~` and relative paths resolved, links not followed. */
  resolve(path: string): string
  /**
   * Bytes from `offset`, at most `length`; `null` when there is no such file. `into` may be filled from its start, and the filled part of
   * it given back, instead of new memory; at most its length is read then. `noLinks`: the path had no links when leave was given for it.
   * @throws HermesError `environment.changed` when it leads elsewhere after `noLinks`, at least where commands see less than this program.
   */
  read(
    path: string,
    options?: {
      readonly offset?: number
      readonly length?: number
      readonly into?: Uint8Array
      readonly noLinks?: boolean
    },
  ): Promise<Uint8Array | null>
  /**
   * Many whole files of the absolute `folder`, in the order of `paths`, some at a time. What is missing, no regular file, not readable or
   * behind a link of the folder is left out. Not there where it would be no faster than `read`. Whoever ends the iteration frees what it holds.
   */
  readMany?(
    folder: string,
    paths: AsyncIterable<readonly string[]>,
    options: ReadManyOptions,
  ): AsyncIterable<readonly FileContent[]>
  stat(path: string): Promise<FileStat | null>
  list(path: string): Promise<readonly DirectoryEntry[] | null>
  /** The path with links followed as far as it exists; the rest appended. */
  realpath(path: string): Promise<string>
  /**
   * Writes the whole file: to a temporary file beside it, then renamed; parents are made. An existing mode is kept. Links are followed,
   * unless `noLinks` says that `path` had none when leave was given for it.
   * @throws HermesError `environment.changed` when `ifVersion` is given and the file is another one by now, or a link came after `noLinks`.
   */
  write(
    permit: Permit,
    path: string,
    bytes: Uint8Array,
    options?: { readonly mode?: number; readonly ifVersion?: string; readonly noLinks?: boolean },
  ): Promise<FileStat>
  mkdir(permit: Permit, path: string): Promise<void>
  /** Links at the ends of both paths are not followed; with `noLinks` the folders of both had none either when leave was given. */
  rename(permit: Permit, from: string, to: string, options?: { readonly noLinks?: boolean }): Promise<void>
  /** Removes a file, a link or an empty directory; nothing there is `environment.not_found`. `noLinks` as for `rename`. */
  remove(permit: Permit, path: string, options?: { readonly noLinks?: boolean }): Promise<void>
  /** Runs a command to its end. The permit names `options.cwd`, else `cwd()`. */
  exec(permit: Permit, command: string, options?: ExecOptions): Promise<ExecResult>
  /** @throws HermesError `environment.no_pty` when a pseudo-terminal is asked for and cannot be had; nothing was started then. */
  spawn(permit: Permit, command: string, options?: SpawnOptions): Promise<BackgroundProcess>
  /**
   * Starts a program in a process group of its own, which ends with the environment, and with this program however that ends. The permit
   * names {@link programLine} of `argv`. One that is not there ends with exit code 127. Missing where programs cannot be spoken to.
   * @throws HermesError `environment.not_found` when `cwd` is missing.
   */
  readonly startProgram?: ((permit: Permit, request: ProgramRequest) => Promise<RunningProgram>) | undefined
  /**
   * Saves text in a place of our own where the file tools find it, for its user alone, and gives the path. Where it is missing, they read
   * the files of this machine. @throws HermesError `environment.*`.
   */
  readonly keepText?: ((text: string) => Promise<string>) | undefined
  /**
   * Remembers files of the workspace, contents of at most 500 of 1 MiB each, for what a command may do to them. `path` is from the root of the workspace,
   * with slashes; only folders that `enters` names are looked into: those that were looked into when they were remembered, 10,000 that
   * `holdsLink` knows, and of others the 1,000 nearest to its root; a link counts where `holdsLink` says so. Files whose path `namesOthers` are read
   * for further ones: `named` gives them as patterns of paths, from the root, for a text and the folder of the first in the row; 200 and their own are followed. What is written with a permit counts as no change. Missing where it would take as long as a command.
   */
  readonly rememberFiles?:
    | ((selection: {
        readonly holds: (path: string) => boolean
        readonly enters: (folder: string) => boolean
        readonly holdsLink: (path: string) => boolean
        readonly namesOthers: (path: string) => boolean
        readonly named: (text: string, folder: string) => readonly string[]
      }) => RememberedFiles)
    | undefined
  /** How commands here can become root; missing where `sudo` cannot be given a password. */
  readonly sudo?: SudoAccess | undefined
  /** Background processes by id, the running ones and those that ended in the last half hour. */
  processes(): readonly BackgroundProcess[]
  probe(): Promise<EnvironmentProbe>
  /** Ends background processes (unless `keepProcesses`) and frees what the environment holds. */
  close(options?: { readonly keepProcesses?: boolean }): Promise<void>
}
