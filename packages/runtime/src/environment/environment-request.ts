import type { HermesConfig } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import type { Factories } from '@hermes/contracts/extension'
import type { ActingSkill, StartedLine } from '@hermes/contracts/policy'
import type { IsolationSupport, SharedLogins, SharedPipes, SharedWatcher, Workspaces } from '@hermes/sandbox'

/** The variable that tells a program for which session it runs. */
export const SESSION_MARK = 'HERMES_SESSION_ID'

/** What an environment is opened from. */
export interface EnvironmentRequest {
  readonly config: HermesConfig
  /** Opens what an extension makes under the name of the backend. Default: it is one of those built in. */
  readonly ownBackend?: Factories['backend'] | undefined
  readonly home: string
  /** Whom it serves. Default: the owner of the home. */
  readonly person?: string | null
  readonly userHome: string
  readonly user: string
  /** Where the agent works on this machine. Absolute. */
  readonly cwd: string
  readonly tempDir: string
  /** Whose containers and sandboxes are shared where they are not kept: a session with those it hands tasks to. Default: nobody's. */
  readonly task?: string
  readonly env: Readonly<Record<string, string>>
  /** Keys and tokens of the home, for what configuration asks to pass on. */
  readonly secrets: Readonly<Record<string, string>>
  readonly secretNames: readonly string[]
  readonly logger: Logger
  readonly clock: Clock
  /** The skills of others whose programs are held, for who works in an absolute folder. Default: those that are installed. */
  readonly skills?: (workspace: string, line: StartedLine) => Promise<readonly ActingSkill[]>
  /** What is known of this machine. Default: each environment looks. */
  readonly isolationSupport?: IsolationSupport
  /** The workspaces of the program, each as it was found first. Default: each environment looks. */
  readonly workspaces?: Workspaces
  /** What start-up files of shells added for other environments. Default: each reads them. */
  readonly logins?: SharedLogins
  /** What ends the commands of environments when the program dies. Default: each has its own. */
  readonly watcher?: SharedWatcher
  /** Named pipes that no command had yet. Default: each has its own. */
  readonly pipes?: SharedPipes
}
