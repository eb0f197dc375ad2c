import { type IsolationOptions, isolationHinders } from '@hermes/sandbox'
import { toPath } from '../home/settings.js'
import { cacheOf } from '../people/cache-of.js'
import type { EnvironmentRequest } from './environment-request.js'

/** How commands and programs of this machine are held to the workspace; `null` where they are not. */
export function isolationOf({
  config,
  home,
  person = null,
  userHome,
  cwd,
  isolationSupport,
  workspaces,
}: Pick<
  EnvironmentRequest,
  'config' | 'home' | 'person' | 'userHome' | 'cwd' | 'isolationSupport' | 'workspaces'
>): IsolationOptions | null {
  const { isolation, isolation_write, isolation_read, isolation_network: network } = config.terminal
  if (isolation === 'off' || (isolation === 'auto' && isolationHinders(cwd) !== null)) return null
  const path = (text: string) => toPath(text, userHome, cwd)
  return {
    hidden: [home],
    writable: isolation_write.map(path),
    // Results that were cut say where all of them is.
    readable: [...isolation_read.map(path), cacheOf(home, person).results],
    network: network === 'ask' ? 'ask' : network === 'on',
    required: isolation === 'on',
    ...(isolationSupport ? { support: isolationSupport } : {}),
    ...(workspaces ? { workspaces } : {}),
  }
}
