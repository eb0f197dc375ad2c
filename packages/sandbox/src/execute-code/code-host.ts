import type { Clock, Logger } from '@hermes/contracts'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import { programLine } from '@hermes/contracts/environment'
import type { Permit } from '@hermes/contracts/policy'
import { Bounds } from '../isolation/bounds.js'
import { Isolation } from '../isolation/isolation.js'
import type { IsolationOptions } from '../isolation/isolation-options.js'
import { createIsolationSupport } from '../isolation/isolation-support.js'
import { type CommandHold, heldVariables, isolateOptions } from '../local/command-hold.js'
import { looksSecret } from '../local/filter-environment.js'
import { OrphanGuard } from '../local/orphan-guard.js'
import type { CodeRequest } from './code-request.js'
import { codeAction, codeArgv } from './code-request.js'
import type { CodeResult } from './code-result.js'
import { Interpreters } from './interpreters.js'
import { KeptInterpreters } from './kept-interpreters.js'
import { removeAbandoned } from './program-folder.js'
import type { ProgramSettings } from './run-program.js'
import { runProgram } from './run-program.js'

/** What {@link createCodeHost} needs. */
export interface CodeHostOptions {
  /** Where programs start that cannot start where the agent works: it works on another machine. Absolute. */
  readonly tempDir: string
  /** All variables of commands; programs get few of them, see `scriptEnvironment`. */
  readonly env: Readonly<Record<string, string>>
  /** What `~` stands for. Absolute. */
  readonly home: string
  /** Where outputs that were cut are kept. Absolute. */
  readonly outputDir: string
  /** Where isolated programs may write. Absolute. */
  readonly workspace: string
  /** Default: none. */
  readonly isolation?: IsolationOptions
  /** What a program that starts in the absolute `cwd` is held to, by the command line that it comes to. Default: nothing of its own. */
  readonly holds?: (command: string, cwd: string) => Promise<CommandHold | null>
  /** The Node that runs JavaScript. Default: the one that runs this. */
  readonly node?: string
  /** Default 120,000. */
  readonly timeoutMs?: number
  /** Default 50. */
  readonly maxCalls?: number
  /** What one program may use of memory. Default 4 GiB; 0 is no limit. */
  readonly maxMemoryBytes?: number
  /** Default: silent. */
  readonly logger?: Logger
  /** Default: the machine's clock. */
  readonly clock?: Clock
}

/** Runs programs on this machine, whatever machine the agent works on. */
export interface CodeHost {
  /** See {@link CodeHostOptions}. */
  readonly tempDir: string
  /**
   * Runs a program to its end. The permit is for {@link codeAction}. What goes wrong with the program is in the result.
   * @throws HermesError `code.no_python`, `code.held`, `environment.spawn_failed`, `environment.no_isolation`; the reason of a signal that has
   * fired already: nothing is started then.
   */
  run(permit: Permit, request: CodeRequest): Promise<CodeResult>
  /** Ends interpreters that stayed. */
  close(): Promise<void>
}

/** See {@link CodeHost}. */
export function createCodeHost(options: CodeHostOptions): CodeHost {
  return new LocalCodeHost(options)
}

class LocalCodeHost implements CodeHost {
  readonly tempDir: string
  readonly #settings: ProgramSettings
  readonly #isolation: Isolation | null
  readonly #kept: KeptInterpreters
  readonly #holds: CodeHostOptions['holds']
  #swept: Promise<void> | null = null

  constructor(options: CodeHostOptions) {
    const { tempDir, home, outputDir, workspace, isolation, timeoutMs = 120_000, maxCalls = 50 } = options
    const {
      clock = systemClock,
      logger = silentLogger,
      maxMemoryBytes = 4 * 2 ** 30,
      node = process.execPath,
    } = options
    const env = scriptEnvironment(options.env)
    const temp = ['/tmp', '/var/tmp', tempDir]
    this.tempDir = tempDir
    this.#holds = options.holds
    const support = isolation?.support ?? createIsolationSupport()
    const { platform } = process
    const path = () => options.env['PATH'] ?? ''
    const bounds = isolation ? new Bounds({ cwd: workspace, home, temp, isolation }) : null
    this.#isolation = bounds && new Isolation({ bounds, outputDir, support, logger, platform, path })
    this.#settings = {
      tempDir,
      outputDir,
      env,
      timeoutMs,
      maxCalls,
      clock,
      interpreters: new Interpreters({ node, env, maxMemoryBytes }),
      guard: new OrphanGuard(),
      isolate: this.#isolation ? (requested, folders) => this.#isolation!.wrap(requested, folders) : null,
    }
    this.#kept = new KeptInterpreters(this.#settings)
  }

  async run(permit: Permit, request: CodeRequest): Promise<CodeResult> {
    request.signal.throwIfAborted()
    permit.consume(codeAction(request))
    this.#swept ??= removeAbandoned(this.tempDir, this.#settings.clock.now())
    await this.#swept
    const hold = await this.#hold(request)
    if (request.reset) await this.#kept.reset(request)
    return request.keep ? this.#kept.run(request) : runProgram(this.#held(hold), request)
  }

  async #hold(request: CodeRequest): Promise<CommandHold | null> {
    const hold = (await this.#holds?.(programLine(codeArgv(request)), request.cwd)) ?? null
    // What stays has the network and variables of all that ran in it before.
    if (hold === null || !request.keep) return hold
    throw new HermesError('This program uses a skill, and has a process of its own for that: leave keep out.', {
      code: 'code.held',
    })
  }

  #held(hold: CommandHold | null): ProgramSettings {
    const [settings, isolation] = [this.#settings, this.#isolation]
    if (hold === null) return settings
    return {
      ...settings,
      env: heldVariables(settings.env, hold),
      isolate: isolation && ((requested, folders) => isolation.wrap(requested, folders, isolateOptions({}, hold))),
    }
  }

  async close(): Promise<void> {
    await this.#kept.close()
    await this.#isolation?.close(false)
    this.#settings.guard.close()
  }
}

const KEPT =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV)|PYENV_(?:ROOT|VERSION)|PYTHONPATH|NODE_PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|XDG_\w+)$/

/** What a program gets of the variables of commands: what it needs to find its way, and nothing that looks like a secret. */
function scriptEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const isKept = (name: string) => KEPT.test(name) && !looksSecret(name)
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))),
    PYTHONUTF8: '1',
    PYTHONIOENCODING: 'utf-8:backslashreplace',
    PYTHONDONTWRITEBYTECODE: '1',
    NO_COLOR: '1',
  }
}
