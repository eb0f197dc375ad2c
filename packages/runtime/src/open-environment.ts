import { homeLayout } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { createLocalEnvironment, filterEnvironment } from '@hermes/sandbox'
import type { EnvironmentRequest } from './environment-request.js'
import { toPath } from './to-path.js'

/** The backends there are. */
export const BACKENDS = ['local', 'ssh', 'docker', 'singularity'] as const

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
      const { sshOptions } = await import('./far-options.js')
      const { openSshEnvironment } = await import('@hermes/sandbox/ssh')
      return openSshEnvironment(sshOptions(request))
    }
    case 'docker': {
      const { dockerOptions } = await import('./far-options.js')
      const { openDockerEnvironment } = await import('@hermes/sandbox/docker')
      return openDockerEnvironment(await dockerOptions(request))
    }
    case 'singularity': {
      const { singularityOptions } = await import('./far-options.js')
      const { openSingularityEnvironment } = await import('@hermes/sandbox/singularity')
      return openSingularityEnvironment(await singularityOptions(request))
    }
    default:
      throw new HermesError(`terminal.backend is "${backend}" in config.yaml; it can be ${BACKENDS.join(', ')}.`, {
        code: 'runtime.unknown_backend',
        details: { backend },
      })
  }
}

function openLocal({
  config,
  cwd,
  env,
  home,
  userHome,
  user,
  secretNames,
  ...request
}: EnvironmentRequest): Environment {
  const { env_passthrough: keep, isolation } = config.terminal
  const path = (text: string) => toPath(text, userHome, cwd)
  return createLocalEnvironment({
    cwd,
    env: filterEnvironment(env, { secretNames, keep }),
    home: userHome,
    outputDir: homeLayout(home).outputs,
    logger: request.logger,
    clock: request.clock,
    user,
    ...(isolation === 'off'
      ? {}
      : {
          temp: [...new Set([request.tempDir, '/tmp', '/var/tmp'])],
          isolation: {
            hidden: [home],
            writable: config.terminal.isolation_write.map(path),
            readable: config.terminal.isolation_read.map(path),
            network: config.terminal.isolation_network,
            required: isolation === 'on',
          },
        }),
  })
}
