import { join } from 'node:path'
import { changeConfigList, type HermesConfig, homeLayout, type TrustStore } from '@hermes/config'
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { Policy } from '@hermes/contracts/policy'
import type { Proxies } from '@hermes/safety'
import { type HomeSkills, openSkills, type SkillsHome } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import { permitOwnProgram } from '../environment/own-program.js'
import { toPath } from '../home/settings.js'
import { runProgram } from '../plugins/open-home-plugins.js'

/** What the skills of a home get of it. */
interface HomeSkillsOptions {
  readonly home: string
  readonly userHome: string
  readonly cwd: string
  readonly user: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  readonly config: HermesConfig
  readonly trust: TrustStore
  readonly policy: Policy
  readonly proxies: Proxies | null
  readonly isSafe: boolean
  readonly takesCommands: boolean
  readonly ofPlugins: SkillsHome['ofPlugins']
  readonly pluginPlaces: SkillsHome['pluginPlaces']
  readonly serverSkills: SkillsHome['ofServer']
  readonly redact: (text: string) => string
  readonly storage: () => Promise<Storage>
  readonly learnt: SkillsHome['learnt']
  readonly ask: SkillsHome['ask']
  readonly onChange: NonNullable<SkillsHome['onChange']>
  readonly clock: Clock
  readonly logger: Logger
}

const OS_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'macos', win32: 'windows' }

/** The skills of a home. Nothing is read yet. */
export function openHomeSkills(options: HomeSkillsOptions): HomeSkills {
  const { home, userHome, cwd, env, secrets, config, trust, isSafe, takesCommands, ofPlugins, pluginPlaces } = options
  const { redact, clock, logger } = options
  const { skills, skillBundles, pendingSkills, cache } = homeLayout(home)
  return openSkills({
    directory: skills,
    pendingDirectory: pendingSkills,
    bundlesDirectory: skillBundles,
    curator: config.curator,
    learnt: options.learnt,
    ask: options.ask,
    onChange: options.onChange,
    personOf: async (sessionId) => (await (await options.storage()).sessions.get(sessionId))?.person ?? null,
    cacheFile: join(cache, 'skills-index.json'),
    ...{ userHome, cwd, trust, isSafe, takesCommands, ofPlugins, pluginPlaces, redact, clock, logger },
    settings: {
      ...config.skills,
      external_dirs: config.skills.external_dirs.map((folder) => toPath(folder, userHome, userHome)),
    },
    run: (argv, how) =>
      runProgram(argv, how, { options, services: options }, { whose: 'skills', agreed: 'hermes skills install' }),
    fetch: async (url, request) => {
      const { fetchForPerson } = await import('../web/fetch-for-person.js')
      return fetchForPerson(url, { platform: 'cli', user: null, ...request }, options).catch((error: unknown) => {
        if (!HermesError.isInstance(error) || error.code !== 'policy.denied') throw error
        const why = `${error.message[0]?.toLowerCase()}${error.message.slice(1)}`
        throw new HermesError(`${url} is not read: ${why}`, { code: error.code })
      })
    },
    ofServer: async (server, signal) => {
      const action = { type: 'send', target: `mcp:${server}/skills`, chosen: 'looks' } as const
      const permit = await permitOwnProgram(action, {
        ...{ platform: 'skills', name: `The MCP server ${server}`, sessionId: 'skills', user: options.user },
        policy: options.policy,
      })
      permit.consume(action)
      return options.serverSkills(server, signal)
    },
    os: OS_NAMES[process.platform] ?? process.platform,
    hasVariable: (name) => Boolean(secrets[name] ?? env[name]),
    setDisabled: (name, isDisabled) =>
      changeConfigList({
        ...{ home, key: 'skills.disabled' },
        change: (items) => [...items.filter((item) => item !== name), ...(isDisabled ? [name] : [])],
      }),
  })
}
