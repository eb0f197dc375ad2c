import { isAbsolute, join, normalize } from 'node:path'
import { HermesError } from '@hermes/contracts'

/** Where things are in a Hermes home; all paths are absolute when the home is. */
interface HomeLayout {
  readonly config: string
  readonly env: string
  readonly auth: string
  /** Logins that the browser fills in, sealed. */
  readonly vault: string
  /** Cookies of profiles of the browser, a file each. */
  readonly browserProfiles: string
  readonly permissions: string
  /** Which projects the person trusts. */
  readonly trust: string
  /** Which hooks the person agreed to. */
  readonly hookConsents: string
  readonly stateDb: string
  readonly soul: string
  readonly memories: string
  readonly skills: string
  /** Colours of the person's own, a file each. */
  readonly skins: string
  /** Bundles of skills, a file each. */
  readonly skillBundles: string
  /** Changes of skills and of what is remembered that wait for a person. */
  readonly pendingSkills: string
  readonly pendingMemory: string
  /** Modules that `extensions` of config.yaml names. */
  readonly extensions: string
  /** Where plugins are installed, what they keep, and which the person agreed to. */
  readonly plugins: string
  readonly pluginData: string
  readonly installedPlugins: string
  readonly logs: string
  readonly cache: string
  /** Full output of commands whose result was cut. */
  readonly outputs: string
  readonly backups: string
  /** What the store took no more. */
  readonly rescue: string
  /** Snapshots of workspaces. */
  readonly checkpoints: string
}

/** The paths inside a Hermes home. Pure: nothing is looked up or made. */
export function homeLayout(home: string): HomeLayout {
  const cache = join(home, 'cache')
  return {
    config: join(home, 'config.yaml'),
    env: join(home, '.env'),
    auth: join(home, 'auth.json'),
    // In a folder that file tools neither read nor write.
    vault: join(home, 'auth', 'vault.json'),
    browserProfiles: join(home, 'auth', 'browser'),
    permissions: join(home, 'permissions.yaml'),
    trust: join(home, 'trust.json'),
    hookConsents: join(home, 'shell-hooks-allowlist.json'),
    stateDb: join(home, 'state.db'),
    soul: join(home, 'SOUL.md'),
    memories: join(home, 'memories'),
    skills: join(home, 'skills'),
    skins: join(home, 'skins'),
    skillBundles: join(home, 'skill-bundles'),
    pendingSkills: join(home, 'pending', 'skills'),
    pendingMemory: join(home, 'pending', 'memory'),
    extensions: join(home, 'extensions'),
    plugins: join(home, 'plugins'),
    pluginData: join(home, 'plugin-data'),
    installedPlugins: join(home, 'installed-plugins.json'),
    logs: join(home, 'logs'),
    cache,
    outputs: join(cache, 'terminal'),
    backups: join(home, 'backups'),
    rescue: join(home, 'rescue'),
    checkpoints: join(home, 'checkpoints', 'workspaces'),
  }
}

/** What {@link defaultHome} looks at. */
interface DefaultHomeOptions {
  /** Only `HERMES_HOME` is read. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. Absolute. */
  readonly userHome: string
}

/**
 * The Hermes home: `HERMES_HOME` with a leading `~` expanded, else `.hermes` in the person's home folder. Pure.
 * @throws HermesError `config.bad_home` when `HERMES_HOME` is a relative path.
 */
export function defaultHome({ env, userHome }: DefaultHomeOptions): string {
  const wanted = env['HERMES_HOME']
  if (!wanted) return join(userHome, '.hermes')
  const expanded = wanted.replace(/^~(?=$|[\\/])/, () => userHome)
  if (isAbsolute(expanded)) return normalize(expanded).replace(/(?<=[^:\\/])[\\/]+$/, '')
  throw new HermesError(`HERMES_HOME is "${wanted}", a relative path. Set it to an absolute one, or unset it.`, {
    code: 'config.bad_home',
  })
}
