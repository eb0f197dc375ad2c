import type { Environment } from '@hermes/contracts/environment'
import { writableRoots } from '@hermes/sandbox'
import type { Runtime } from '../runtime.js'
import { type EnvironmentRequest, SESSION_MARK } from './environment-request.js'
import { isolationOf } from './isolation-options.js'
import { openEnvironment } from './open-environment.js'

/** Where the agents of a home work. */
interface HomeEnvironments extends Pick<Runtime, 'isolatedTo' | 'terminalBackends'> {
  /** What one in this folder is opened from. */
  readonly requestIn: (cwd: string) => EnvironmentRequest
  readonly open: (cwd: string, of?: Pick<EnvironmentRequest, 'task' | 'person'>) => Promise<Environment>
}

/** What tells a program that an agent runs it, and for which session; see `MARK_NAMES`. */
function commandMarks(sessionId: string | undefined): Readonly<Record<string, string>> {
  return {
    AI_AGENT: 'hermes',
    HERMES_AGENT: 'true',
    ...(sessionId === undefined ? {} : { [SESSION_MARK]: sessionId }),
  }
}

/** Nothing is opened before it is asked; `requestIn` is asked anew each time, for what extensions and keys there are by then. */
export function homeEnvironments(requestIn: HomeEnvironments['requestIn'], cwd: string): HomeEnvironments {
  return {
    requestIn,
    open: (folder, of = {}) => {
      const request = requestIn(folder)
      return openEnvironment({ ...request, ...of, env: { ...request.env, ...commandMarks(of.task) } })
    },
    terminalBackends: async (options) =>
      (await import('./terminal-backends.js')).terminalBackends(requestIn(cwd), options),
    isolatedTo: () => {
      const request = requestIn(cwd)
      const isolation = isolationOf(request)
      const { config, isolationSupport, userHome, tempDir } = request
      if (config.terminal.backend !== 'local' || !isolation || isolationSupport?.why() !== null) return null
      return writableRoots({ cwd, home: userHome, temp: [tempDir], isolation })
    },
  }
}
