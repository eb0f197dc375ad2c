import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { homeLayout, rootOfHome } from '@hermes/config'
import { type IsolationOptions, isolationHinders } from '@hermes/sandbox'
import { installedIn, personalPlaces } from '@hermes/skills'
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

/**
 * The same for what the agent runs, which may run the scripts of skills: those of the home are read there, and written nowhere; those of others
 * by commands alone that name them. For other people than the owner all stay hidden: they hold what skills were, and who used them.
 */
export function isolationOfAgent(request: EnvironmentRequest): IsolationOptions | null {
  const isolation = isolationOf(request)
  const { config, home, userHome, person, cwd } = request
  if (isolation === null || (person ?? null) !== null) return isolation
  const external = config.skills.external_dirs.map((folder) => toPath(folder, userHome, userHome))
  const places = personalPlaces({ userHome, external }, cwd)
  const own = homeLayout(home).skills
  const [open, others] = [places.filter(({ isOpen }) => isOpen), places.filter(({ isOpen }) => !isOpen)]
  return {
    ...isolation,
    // A command sees those that it names, and is held to what they declared.
    hidden: [...(isolation.hidden ?? []), installedIn(own), ...others.map(({ folder }) => folder)],
    readable: [...(isolation.readable ?? []), own, ...open.map(({ folder }) => folder)],
  }
}

/** The folder of all profiles and the home they belong to, where this home is one of them. */
function otherProfiles(home: string): readonly string[] {
  const root = rootOfHome(home)
  if (root === home) return []
  const isHome = ['config.yaml', '.env', 'state.db', 'active_profile'].some((name) => existsSync(join(root, name)))
  return [isHome ? root : join(root, 'profiles')]
}
