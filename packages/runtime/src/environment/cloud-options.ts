import { HermesError } from '@hermes/contracts'
import { proxyFor, readProxies, withoutLogin } from '@hermes/safety'
import type { DaytonaOptions } from '@hermes/sandbox/daytona'
import type { ModalOptions } from '@hermes/sandbox/modal'
import type { VercelOptions } from '@hermes/sandbox/vercel'
import type { EnvironmentRequest } from './environment-request.js'
import { digest, passedOn, remoteFolder, shared, syncFolders } from './remote-options.js'

/** A sandbox of Modal as config.yaml describes it. @throws HermesError `runtime.backend_config` without credentials. */
export function modalOptions(request: EnvironmentRequest): ModalOptions {
  const [tokenId, tokenSecret] = credentials(request, 'modal', ['MODAL_TOKEN_ID', 'MODAL_TOKEN_SECRET'])
  return {
    ...common(request, 'modal'),
    tokenId: tokenId!,
    tokenSecret: tokenSecret!,
    image: request.config.terminal.modal_image,
  }
}

/** A sandbox of Daytona as config.yaml describes it. @throws HermesError `runtime.backend_config` without a key. */
export function daytonaOptions(request: EnvironmentRequest): DaytonaOptions {
  const { daytona_image: image, container_disk: diskMb } = request.config.terminal
  const [apiKey] = credentials(request, 'daytona', ['DAYTONA_API_KEY'])
  const { DAYTONA_API_URL: apiUrl, DAYTONA_TARGET: target } = passedOn(request, ['DAYTONA_API_URL', 'DAYTONA_TARGET'])
  const place = { ...(apiUrl ? { apiUrl } : {}), ...(target ? { target } : {}) }
  return { ...common(request, 'daytona'), ...place, apiKey: apiKey!, image, diskMb }
}

/** A sandbox of Vercel as config.yaml describes it. @throws HermesError `runtime.backend_config` without credentials. */
export function vercelOptions(request: EnvironmentRequest): VercelOptions {
  const { vercel_runtime: runtime, container_disk: diskMb } = request.config.terminal
  return { ...common(request, 'vercel'), ...vercelAccess(request), runtime, diskMb }
}

/** Three values, or the token of a project's deployment, which has the other two inside. */
function vercelAccess(request: EnvironmentRequest) {
  const { VERCEL_OIDC_TOKEN: oidc, VERCEL_TOKEN: own } = passedOn(request, ['VERCEL_OIDC_TOKEN', 'VERCEL_TOKEN'])
  const claims = own || !oidc ? null : claimsOf(oidc)
  if (oidc && claims) return { token: oidc, ...claims }
  const [token, teamId, projectId] = credentials(request, 'vercel_sandbox', [
    'VERCEL_TOKEN',
    'VERCEL_TEAM_ID',
    'VERCEL_PROJECT_ID',
  ])
  return { token: token!, teamId: teamId!, projectId: projectId! }
}

function claimsOf(token: string): { readonly teamId: string; readonly projectId: string } | null {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    const { owner_id: teamId, project_id: projectId } = payload as {
      readonly owner_id?: unknown
      readonly project_id?: unknown
    }
    return typeof teamId === 'string' && typeof projectId === 'string' ? { teamId, projectId } : null
  } catch {
    return null
  }
}

/**
 * The clients of these services make their own connections. Those of Modal and Daytona go through HTTP proxies of the environment, none
 * through SOCKS; past a proxy that is meant for them nothing is sent.
 */
function refuseBypass(request: EnvironmentRequest, name: keyof typeof SERVICES): void {
  const { DAYTONA_API_URL: own } = passedOn(request, ['DAYTONA_API_URL'])
  const service = new URL(name === 'daytona' && own && URL.canParse(own) ? own : SERVICES[name])
  const proxy = proxyFor(service, readProxies(request.env).proxies)
  if (proxy === null || (name !== 'vercel' && /^https?:/.test(proxy.protocol))) return
  throw new HermesError(
    `The client of ${name} cannot use the proxy ${withoutLogin(proxy.href)} and would connect past it. Put ${service.host} into NO_PROXY to let it, or choose another terminal.backend.`,
    { code: 'runtime.backend_config' },
  )
}

const SERVICES = Object.freeze({
  modal: 'https://api.modal.com',
  daytona: 'https://app.daytona.io',
  vercel: 'https://api.vercel.com',
})

function common(request: EnvironmentRequest, name: keyof typeof SERVICES) {
  refuseBypass(request, name)
  const { config, home, clock } = request
  const { terminal } = config
  const isKept = terminal.container_persistent
  const cwd = remoteFolder(terminal)
  // What belongs to programs of this machine is nothing to a service.
  const { clientEnv: _, ...rest } = shared(request, name)
  return {
    ...rest,
    // A sandbox that is not kept belongs to one session.
    task: isKept ? 'default' : (request.task ?? `${process.pid}-${clock.now()}`),
    profile: digest([home]),
    persistent: isKept,
    folders: syncFolders(request),
    idleSeconds: terminal.lifetime_seconds,
    cpus: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    env: passedOn(request, terminal.env_passthrough),
    ...(cwd === undefined ? {} : { cwd }),
  }
}

function credentials(request: EnvironmentRequest, backend: string, names: readonly string[]): readonly string[] {
  const found = passedOn(request, names)
  const missing = names.filter((name) => !found[name])
  if (missing.length === 0) return names.map((name) => found[name]!)
  throw new HermesError(
    `terminal.backend ${backend} needs ${missing.join(', ')}. Put ${missing.length === 1 ? 'it' : 'them'} into .env of the Hermes home.`,
    { code: 'runtime.backend_config' },
  )
}
