import { errorLine } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { attachSkills } from './attach-skills.js'
import { BundleStore } from './bundles/bundle-store.js'
import { bundlesCommand } from './commands/bundles-command.js'
import { curatorCommand } from './commands/curator-command.js'
import { journeyCommand, refineCommand } from './commands/journey-command.js'
import { countLine, SkillCommands, skillCommand } from './commands/skill-commands.js'
import { VERBS } from './commands/verbs.js'
import { Curator } from './curator/curator.js'
import { SkillInstaller } from './install/installer.js'
import type { LeftSession } from './learning/growth.js'
import { watchSessions } from './learning/session-watch.js'
import { SkillWriter } from './library/skill-writer.js'
import { PackInstaller } from './packs/pack-installer.js'
import { type ListedSkill, type SkillsSection, skillsSection } from './prompt-section.js'
import { type ServedSkills, serveSkills } from './serve-skills.js'
import { SkillLibrary } from './skill-library.js'
import type { SkillsHome } from './skills-home.js'
import { skillManageTool } from './tools/skill-manage.js'
import { skillViewTool } from './tools/skill-view.js'
import { skillsListTool } from './tools/skills-list.js'

/** The skills of a home. */
export interface HomeSkills {
  readonly extension: Extension
  /** A line for each of the names that no skill has for one who works in `cwd`, with what is near. Never rejects. */
  unknown(names: readonly string[], cwd: string): Promise<readonly string[]>
  /**
   * The part of the system text for a new session that works in `cwd`, and one line for each skill that is not right.
   * `windowTokens`: of the model. Never rejects.
   */
  section(of: {
    readonly cwd: string
    readonly windowTokens: number
  }): Promise<SkillsSection & { readonly problems: readonly string[] }>
  /** Those for who works in `cwd`, as other programs get them. */
  served(cwd: string): ServedSkills
  /**
   * Learns from a session that was left, and looks after the skills when it is time. Resolves with whether a model was asked. Rejects as the
   * model and the store do, and on abort.
   */
  afterSession(session: LeftSession): Promise<boolean>
  /** The skills for who works in `cwd`, as they are now; those that are switched off are left out. Never rejects. */
  list(cwd: string): Promise<readonly SkillFacts[]>
}

/** A skill as programs are told of it. Of one from elsewhere, all words are text from outside. */
interface SkillFacts {
  readonly name: string
  readonly group: string
  readonly description: string
  /** Whose it is: `user`, `project`, `installed`, `bundled` … */
  readonly source: string
}

/** Opens the skills of a home. Nothing is read before the extension is set up. */
export function openSkills(home: SkillsHome): HomeSkills {
  const library = new SkillLibrary(home)
  const writer = new SkillWriter(library)
  const installer = new SkillInstaller(library)
  const packs = new PackInstaller(library, installer)
  const curator = new Curator(library, writer)
  const bundles = new BundleStore(home.bundlesDirectory)
  return {
    afterSession: async (session) => {
      const { Growth } = await import('./learning/growth.js')
      return new Growth({ library, writer, curator }).afterSession(session)
    },
    section: (of) => section(library, of),
    served: (cwd) => serveSkills(library, cwd),
    unknown: (names, cwd) => unknown(library, names, cwd),
    list: async (cwd) => {
      const { skills } = await library.index(cwd)
      return [...skills.values()].map(({ name, group, description, source }) => ({ name, group, description, source }))
    },
    extension: {
      name: 'skills',
      setup(api) {
        api.tools.add(skillViewTool(library))
        api.tools.add(skillsListTool(library), { deferred: true })
        api.tools.add(skillManageTool(writer), { deferred: true })
        // An interrupt ends what it waits for; references come after it.
        api.hooks.on('input', async (event) => ({ after: await attachSkills(event, library) }), { order: 5 })
        watchSessions(api, library)
        const commands = new SkillCommands(library, bundles, api.commands)
        api.commands.add(skillCommand(library))
        api.commands.add(bundlesCommand({ library, bundles, refresh: () => commands.refresh() }))
        api.commands.add(curatorCommand({ library, curator }))
        api.commands.add(journeyCommand({ library, writer }))
        api.commands.add(refineCommand({ library, writer }))
        api.commands.add({
          name: 'skills',
          summary: 'skills: list, write, install, answer what waits',
          usage: '[inspect|edit|delete NAME | create NAME WORDS | install SOURCE | pending | approve|reject|diff ID]',
          duringRun: 'allowed',
          needsSession: false,
          parameters: {
            type: 'object',
            properties: {
              // First, so that all that is typed is words; the others are options of `hermes skills`.
              words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
              description: { type: 'string', description: 'what a new skill is for' },
              file: { type: 'string', description: 'a file with what it says' },
              force: {
                type: 'boolean',
                default: false,
                description: 'although there is something like it, or the scanner has found something',
              },
              id: { type: 'string', description: 'how what is fetched is called until it is installed' },
              yes: { type: 'boolean', default: false, description: 'publish what was shown' },
              source: { type: 'string', description: 'where to look: github, clawhub, skills.sh or lobehub' },
              page: { type: 'integer', minimum: 1, default: 1, description: 'of what is found' },
            },
          },
          complete: async (words, { cwd }) =>
            words.length === 0 ? VERBS : words.length === 1 ? [...(await library.index(cwd)).skills.keys()] : [],
          run: async (args, context) => {
            const { runSkillsCommand } = await import('./commands/skills-command.js')
            try {
              return await runSkillsCommand(args, context, { library, writer, installer, packs, curator })
            } finally {
              await commands.refresh()
            }
          },
        })
        api.commands.add({
          name: 'reload-skills',
          summary: 'look for skills anew',
          duringRun: 'allowed',
          needsSession: false,
          run: async (_, { cwd }) => {
            library.reload()
            const [{ skills, problems: own }, all] = await Promise.all([library.index(cwd), commands.refresh()])
            const problems = [...new Set([...own, ...all])]
            const text = { type: 'text', text: `Skills: ${countLine(skills)}` } as const
            return problems.length === 0 ? text : [text, { type: 'text', text: problems.join('\n'), isProblem: true }]
          },
        })
        api.doctor.check({
          name: 'skills',
          async run() {
            const { skills, problems } = await library.index(home.cwd)
            const [{ problems: odd }, waiting] = await Promise.all([bundles.list(), writer.staged.list()])
            const waits =
              waiting.length === 0
                ? []
                : [`Changes of skills wait for your yes: ${waiting.length}. hermes skills pending`]
            return [
              { level: 'ok', text: `Skills: ${countLine(skills)}` },
              ...waits.map((text) => ({ level: 'ok', text }) as const),
              ...[...problems, ...odd].map((text) => ({ level: 'warn', text }) as const),
            ]
          },
        })
        // Commands of Hermes and of the person come first, and the start does not wait for files.
        const started = Promise.resolve()
          .then(() => commands.refresh())
          .catch((error: unknown) =>
            home.logger.warn('Skills are no commands of their own.', { error: errorLine(error) }),
          )
        return async () => {
          await started
          await library.usage.flush()
        }
      },
    },
  }
}

async function unknown(library: SkillLibrary, names: readonly string[], cwd: string): Promise<readonly string[]> {
  const index = await library.index(cwd)
  return names.flatMap((name) => {
    try {
      library.require(index, name)
      return []
    } catch (error) {
      return [errorLine(error)]
    }
  })
}

async function section(
  library: SkillLibrary,
  { cwd, windowTokens }: { readonly cwd: string; readonly windowTokens: number },
): Promise<SkillsSection & { readonly problems: readonly string[] }> {
  const { skills, problems } = await library.index(cwd)
  const own = [...skills.values()].filter(({ source }) => source !== 'bundled')
  const listed = await Promise.all(
    own.map(async (skill): Promise<ListedSkill> => ({ skill, isTrusted: await isTrusted(library, skill) })),
  )
  const { plain, steering } = await withoutOrders(listed)
  return {
    ...skillsSection(plain, { uses: library.usage.all(), windowTokens }),
    problems: [...problems, ...steering],
  }
}

/** Descriptions that read like an order to take over the agent, or hide text, stay out of the prompt, whoever wrote them. */
async function withoutOrders(listed: readonly ListedSkill[]) {
  if (!listed.some(({ isTrusted }) => isTrusted)) return { plain: listed, steering: [] }
  const { scanContext } = await import('@hermes/safety/scan')
  const steering: string[] = []
  const plain = listed.map((one): ListedSkill => {
    const [finding] = one.isTrusted ? scanContext(one.skill.description) : []
    if (finding === undefined) return one
    steering.push(
      `The model is shown skill ${one.skill.name} without its description: it may try to take over the agent (${finding.rule}). Look at ${one.skill.folder}`,
    )
    return { ...one, isTrusted: false }
  })
  return { plain, steering }
}

/** Whether its description may stand where the model takes its orders from. That of an installed one was agreed to with it, of one of a plugin its name. */
async function isTrusted({ home }: SkillLibrary, { source, folder }: ListedSkill['skill']): Promise<boolean> {
  if (source === 'plugin') return false
  return source === 'shared' || source === 'external' ? home.trust.isTrusted(folder!) : true
}
