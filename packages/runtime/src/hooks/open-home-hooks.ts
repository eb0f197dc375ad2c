import { basename } from 'node:path'
import { type HermesConfig, homeLayout, rootOfHome, type TrustStore } from '@hermes/config'
import type { Clock, JsonValue, Logger } from '@hermes/contracts'
import type { Policy } from '@hermes/contracts/policy'
import { type HomeHooks, openHooks, type ReadHooks, readHookFile } from '@hermes/hooks'
import type { PluginHooks } from '@hermes/plugins'
import { createLocalEnvironment, looksSecret } from '@hermes/sandbox'
import { toPath } from '../home/settings.js'
import { cacheOf } from '../people/people.js'
import type { RuntimeOptions } from '../runtime.js'

/** What the hooks of a home are opened with. */
interface HomeHookOptions extends Pick<RuntimeOptions, 'home' | 'userHome' | 'cwd' | 'env' | 'user' | 'acceptHooks'> {
  readonly config: HermesConfig
  /** Hooks of projects do not run, trusted or not. */
  readonly isSafe: boolean
  readonly secrets: Readonly<Record<string, string>>
  /** Variables that no command gets. */
  readonly secretNames: () => readonly string[]
  readonly policy: Pick<Policy, 'decide'>
  readonly trust: TrustStore
  /** Hook files of plugins that the person agreed to. */
  readonly pluginHooks: () => Promise<readonly PluginHooks[]>
  readonly fetchTo: (address: string) => typeof fetch
  readonly redact: (text: string) => string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The hooks of a home. Their programs run on this machine as the person who agreed to them, outside the isolation that commands of an agent are
 * held in, and without keys.
 */
export function openHomeHooks(options: HomeHookOptions): HomeHooks {
  const { home, userHome, cwd, env, user, config, secrets, secretNames, trust, clock, logger } = options
  const { env_passthrough: kept } = config.terminal
  const layout = homeLayout(home)
  return openHooks({
    environment: () => {
      const hidden = secretNames()
      return createLocalEnvironment({
        ...{ cwd, env, home: userHome, user, clock, logger, outputDir: cacheOf(home, null).outputs },
        withholds: (name, value) => !kept.includes(name) && (hidden.includes(name) || looksSecret(name, value)),
      })
    },
    policy: options.policy,
    userHome,
    consentFile: layout.hookConsents,
    section: config.hooks as JsonValue,
    configFile: layout.config,
    files: config.hook_files.map((path) => toPath(path, userHome, home)),
    others: async () => readPluginHooks(await options.pluginHooks()),
    acceptsAll: options.acceptHooks === true || config.hooks_auto_accept || env['HERMES_ACCEPT_HOOKS'] === '1',
    project: async (folder) => {
      const { folder: root, state } = await trust.look(folder)
      return { folder: root, isTrusted: state === 'trusted' && !options.isSafe }
    },
    secret: (name) => secrets[name],
    fetchTo: options.fetchTo,
    redact: options.redact,
    path: env['PATH'] ?? '',
    profile: rootOfHome(home) === home ? 'default' : basename(home),
    user,
    clock,
    logger,
  })
}

/** They have the form of Claude Code. */
function readPluginHooks(files: readonly PluginHooks[]): ReadHooks {
  const read = files.map(({ source, text, variables }) =>
    readHookFile(text, { form: 'claude', source, project: null, variables }),
  )
  return {
    hooks: read.flatMap(({ hooks }) => hooks),
    outbound: [],
    problems: read.flatMap(({ problems }) => problems),
  }
}
