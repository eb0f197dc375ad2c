import {
  allowNothing,
  type HermesConfig,
  homeLayout,
  loadConfig,
  loadPermissions,
  loadSecrets,
  openTrust,
  type TrustStore,
  withTerminalVariables,
} from '@hermes/config'
import { systemClock } from '@hermes/contracts'
import { type Proxies, parseRules, readProxies } from '@hermes/safety'
import type { OwnConfig } from '../extensions/config-sections.js'
import { type LoadedExtensions, loadExtensions } from '../extensions/load-extensions.js'
import { findCredentials, type StoredCredentials } from '../models/credentials.js'
import { type OpenedPlugins, openHomePlugins } from '../plugins/open-home-plugins.js'
import { writeRootsOf } from '../policy/write-roots.js'
import type { RuntimeOptions } from '../runtime.js'
import { makeHome } from './make-home.js'
import { networkProblems } from './network-settings.js'
import { isSafe, startedWith } from './started-with.js'

/** What a home says before anything of it is opened. */
export interface HomeFacts {
  readonly config: HermesConfig
  readonly secrets: Awaited<ReturnType<typeof loadSecrets>>
  readonly rules: ReturnType<typeof parseRules>['rules']
  readonly asksAlways: boolean
  readonly writeRoots: readonly string[]
  readonly proxies: Proxies | null
  readonly stored: StoredCredentials
  readonly ownConfig: OwnConfig
  readonly trust: TrustStore
  readonly plugins: OpenedPlugins
  readonly ownExtensions: LoadedExtensions
  /** Of `context.engine`, where no extension makes what it names. */
  readonly engineProblems: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Reads a home, which is made when it is missing: configuration, secrets, rules, logins, trust, plugins. What is broken is among the problems.
 * @throws HermesError `runtime.bad_home` when the folder cannot be made.
 */
export async function readHome(options: RuntimeOptions): Promise<HomeFacts> {
  const { home, env } = options
  await makeHome(home)
  const [read, secrets, permissions, stored] = await Promise.all([
    loadConfig({ home, env }),
    loadSecrets({ home, env }),
    loadPermissions({ home }),
    findCredentials(home, options.clock ?? systemClock),
  ])
  const loaded = startedWith(read, options)
  const rules = parseRules(loaded.asksAlways ? allowNothing(permissions.rules) : permissions.rules, permissions)
  const { proxies, problems: proxyProblems, notes: proxyNotes } = readProxies(env)
  const { config, problems: ofVariables } = withTerminalVariables(loaded.config, secrets.values)
  const found = [...secrets.problems, ...permissions.problems].map((problem) => problem.message)
  const problems = [...found, ...ofVariables]
  const trust = openTrust({
    ...{ home, userHome: options.userHome, trustedNow: options.trust ? options.cwd : undefined },
    now: () => (options.clock ?? systemClock).now(),
  })
  const plugins = await openHomePlugins({
    ...options,
    ...{ config, own: loaded.own, secrets: secrets.values, trust, isSafe: isSafe(options) },
    clock: options.clock ?? systemClock,
  })
  const { routing } = config
  const routes = routing.length === 0 ? [] : (await import('../models/routing.js')).routingProblems(routing)
  const { engine } = config.context
  const engines =
    engine === 'compressor'
      ? []
      : (await import('../context/own-context-engine.js')).engineProblems({ engine, home, userHome: options.userHome })
  return {
    config,
    secrets,
    rules: rules.rules,
    asksAlways: loaded.asksAlways,
    writeRoots: await writeRootsOf(secrets.values, options),
    proxies,
    stored,
    ownConfig: loaded,
    ...{ trust, plugins },
    ownExtensions: await loadExtensions(config.extensions, homeLayout(home).extensions),
    engineProblems: engines,
    problems: [
      ...[...problems, ...stored.problems, ...rules.problems, ...proxyProblems, ...proxyNotes, ...routes],
      ...networkProblems(config),
    ],
  }
}
