import { errorLine } from '@hermes/contracts'
import type { CgroupPlaces } from '@hermes/sandbox/isolation'
import { daytonaOptions, modalOptions, vercelOptions } from './cloud-options.js'
import type { EnvironmentRequest } from './environment-request.js'
import { BACKENDS } from './open-environment.js'
import { findEngine, findProgram, sshOptions } from './remote-options.js'

/** Whether commands could run on one backend; `text` says with what, or why not and what to do. */
export interface BackendStatus {
  readonly backend: string
  readonly isChosen: boolean
  readonly isReady: boolean
  readonly text: string
  /** It works, but not as it should. Default `false`. */
  readonly isWeak?: boolean
}

/**
 * Looks at every backend, without a model and without leaving anything behind. The hosts of ssh are asked only when online. `cgroups`: default those
 * of this machine.
 */
export async function terminalBackends(
  request: EnvironmentRequest,
  { isOffline, cgroups = {} }: { readonly isOffline: boolean; readonly cgroups?: CgroupPlaces },
): Promise<readonly BackendStatus[]> {
  const { backend } = request.config.terminal
  const status = async (name: string, look: () => Promise<string | Weak>): Promise<BackendStatus> => {
    const isChosen = backend === name
    try {
      const found = await look()
      return { backend: name, isChosen, isReady: true, ...(typeof found === 'string' ? { text: found } : found) }
    } catch (error) {
      return { backend: name, isChosen, isReady: false, text: errorLine(error) }
    }
  }
  const known = await Promise.all([
    status('local', () => lookAtLocal(request, cgroups)),
    status('ssh', () => lookAtSsh(request, isOffline)),
    status('docker', () => lookAtDocker(request)),
    status('singularity', () => lookAtSingularity(request)),
    status('modal', async () => {
      const { probeModal } = await import('@hermes/sandbox/modal')
      return lookAtCloud(probeModal(modalOptions(request), { isOffline }), isOffline)
    }),
    status('daytona', async () => {
      const { probeDaytona } = await import('@hermes/sandbox/daytona')
      return lookAtCloud(probeDaytona(daytonaOptions(request), { isOffline }), isOffline)
    }),
    status('vercel_sandbox', async () => {
      const { probeVercel } = await import('@hermes/sandbox/vercel')
      return lookAtCloud(probeVercel(vercelOptions(request), { isOffline }), isOffline)
    }),
  ])
  if (BACKENDS.some((name) => name === backend)) return known
  const text = `there is no such backend; terminal.backend can be ${BACKENDS.join(', ')}`
  return [...known, { backend, isChosen: true, isReady: false, text }]
}

type Weak = Required<Pick<BackendStatus, 'text' | 'isWeak'>>

async function lookAtLocal({ config, cwd }: EnvironmentRequest, cgroups: CgroupPlaces): Promise<string | Weak> {
  const { defaultLimits, delegatedCgroup, isolationHinders, limitsLine, probeIsolation } = await import(
    '@hermes/sandbox/isolation'
  )
  const { isolation } = config.terminal
  const why = (await probeIsolation()) ?? (isolation === 'auto' ? isolationHinders(cwd) : null)
  if (isolation === 'off') return 'commands are not isolated: terminal.isolation is off'
  if (why === null) {
    if (process.platform !== 'linux') return 'commands are isolated, with no limit of processes and memory'
    const cgroup = delegatedCgroup(cgroups)
    const by =
      cgroup === null
        ? 'looked at twice a second; no cgroup is delegated to Hermes'
        : `kept by a cgroup below ${cgroup}`
    return `commands are isolated; those of a session are ended beyond ${limitsLine(defaultLimits())} (${by}); programs that go on see sockets that are bound later in shared folders`
  }
  if (isolation === 'on') throw new Error(`commands cannot be isolated, and terminal.isolation is on: ${why}`)
  return { text: `commands are not isolated: ${why}`, isWeak: true }
}

async function lookAtSsh(request: EnvironmentRequest, isOffline: boolean): Promise<string> {
  if (!request.config.terminal.ssh_host) throw new Error('no host set (terminal.ssh_host)')
  const options = sshOptions(request)
  if (isOffline) return `${options.host}; not asked`
  const { openSshEnvironment } = await import('@hermes/sandbox/ssh')
  const environment = await openSshEnvironment(options)
  const { user, os } = await environment.probe()
  await environment.close()
  return `${user} on ${options.host}, ${os}`
}

async function lookAtDocker({ env }: EnvironmentRequest): Promise<string> {
  const { probeDocker } = await import('@hermes/sandbox/docker')
  const program = findEngine(env)
  const found = await probeDocker({ program, clientEnv: env })
  if (found.ready) return `${program} ${found.version}`
  throw new Error(found.why)
}

async function lookAtSingularity({ env }: EnvironmentRequest): Promise<string> {
  const { probeSingularity } = await import('@hermes/sandbox/singularity')
  const found = await probeSingularity({ program: findProgram(env, ['apptainer', 'singularity']), clientEnv: env })
  if (found.ready) return found.version
  throw new Error(found.why)
}

async function lookAtCloud(probe: Promise<void>, isOffline: boolean): Promise<string> {
  await probe
  return isOffline ? 'credentials are set; not asked' : 'the service takes the credentials'
}
