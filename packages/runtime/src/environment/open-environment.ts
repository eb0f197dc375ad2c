import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Factories } from '@hermes/contracts/extension'
import { createLocalEnvironment, looksSecret } from '@hermes/sandbox'
import { cacheOf } from '../people/people.js'
import { holdSkillPrograms } from '../skills/hold-skill-programs.js'
import { type EnvironmentRequest, SESSION_MARK } from './environment-request.js'
import { isolationOfAgent } from './isolation-options.js'

/** The backends there are. */
export const BACKENDS = ['local', 'ssh', 'docker', 'singularity', 'modal', 'daytona', 'vercel_sandbox'] as const

/**
 * The environment that `terminal.backend` names. Nothing but the local one is loaded before it is chosen.
 * @throws HermesError `runtime.unknown_backend`, `runtime.backend_config`, or what opening it throws.
 */
export async function openEnvironment(request: EnvironmentRequest): Promise<Environment> {
  const { backend } = request.config.terminal
  switch (backend) {
    case 'local':
      return openLocal(request)
    case 'ssh': {
      const { sshOptions } = await import('./remote-options.js')
      const { openSshEnvironment } = await import('@hermes/sandbox/ssh')
      return openSshEnvironment(sshOptions(request))
    }
    case 'docker': {
      const { dockerOptions } = await import('./remote-options.js')
      const { openDockerEnvironment } = await import('@hermes/sandbox/docker')
      return openDockerEnvironment(await dockerOptions(request))
    }
    case 'singularity': {
      const { singularityOptions } = await import('./remote-options.js')
      const { openSingularityEnvironment } = await import('@hermes/sandbox/singularity')
      return openSingularityEnvironment(await singularityOptions(request))
    }
    case 'modal': {
      const { modalOptions } = await import('./cloud-options.js')
      const { openModalEnvironment } = await import('@hermes/sandbox/modal')
      return openModalEnvironment(modalOptions(request))
    }
    case 'daytona': {
      const { daytonaOptions } = await import('./cloud-options.js')
      const { openDaytonaEnvironment } = await import('@hermes/sandbox/daytona')
      return openDaytonaEnvironment(daytonaOptions(request))
    }
    case 'vercel_sandbox': {
      const { vercelOptions } = await import('./cloud-options.js')
      const { openVercelEnvironment } = await import('@hermes/sandbox/vercel')
      return openVercelEnvironment(vercelOptions(request))
    }
    default:
      if (request.ownBackend) return openOwn(request.ownBackend, request)
      throw new HermesError(`terminal.backend is "${backend}" in config.yaml; it can be ${BACKENDS.join(', ')}.`, {
        code: 'runtime.unknown_backend',
        details: { backend },
      })
  }
}

function openOwn(open: Factories['backend'], { cwd, home, task, config, clock, logger }: EnvironmentRequest) {
  const settings = config.terminal as unknown as JsonObject
  return open({ cwd, home, settings, clock, logger, ...(task === undefined ? {} : { task }) })
}

function openLocal(request: EnvironmentRequest): Environment {
  const { config, cwd, env, home, person = null, userHome, user, secretNames } = request
  const isolation = isolationOfAgent(request)
  const { env_passthrough: keep, login_shell: readsLogin } = config.terminal
  return createLocalEnvironment({
    cwd,
    env,
    withholds: (name, value) => !keep.includes(name) && (secretNames.includes(name) || looksSecret(name, value)),
    home: userHome,
    outputDir: cacheOf(home, person).outputs,
    holds: holdSkillPrograms(request, { isIsolated: isolation !== null }),
    logger: request.logger,
    clock: request.clock,
    user,
    ...(readsLogin ? { login: { shell: env['SHELL'], shared: request.logins, unshared: [SESSION_MARK] } } : {}),
    ...(request.watcher ? { watcher: request.watcher } : {}),
    ...(request.pipes ? { pipes: request.pipes } : {}),
    ...(isolation === null ? {} : { temp: [...new Set([request.tempDir, '/tmp', '/var/tmp'])], isolation }),
  })
}
