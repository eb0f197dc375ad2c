import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rootOfHome } from '@hermes/config'
import { type IsolationOptions, isolationHinders } from '@hermes/sandbox'
import { toPath } from '../home/settings.js'
import { cacheOf } from '../people/people.js'
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
    hidden: [...new Set([home, ...otherProfiles(home)])],
    writable: isolation_write.map(path),
    // Results that were cut say where all of them is.
    readable: [...isolation_read.map(path), cacheOf(home, person).results],
    network: network === 'ask' ? 'ask' : network === 'on',
    required: isolation === 'on',
    ...(isolationSupport ? { support: isolationSupport } : {}),
    ...(workspaces ? { workspaces } : {}),
  }
}

/** The folder of all profiles and the home they belong to, where this home is one of them. */
function otherProfiles(home: string): readonly string[] {
  const root = rootOfHome(home)
  if (root === home) return []
  const isHome = ['config.yaml', '.env', 'state.db', 'active_profile'].some((name) => existsSync(join(root, name)))
  return [isHome ? root : join(root, 'profiles')]
}
