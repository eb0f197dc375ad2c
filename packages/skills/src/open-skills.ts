import { errorLine } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import type { ActingSkill, StartedLine } from '@hermes/contracts/policy'
import { BundleStore } from './bundles/bundle-store.js'
import { Curator } from './curator/curator.js'
import { SkillInstaller } from './install/installer.js'
import type { LeftSession } from './learning/growth.js'
import { SkillWriter } from './library/skill-writer.js'
import { PackInstaller } from './packs/pack-installer.js'
import type { SkillsSection } from './prompt-section.js'
import { SkillPrompt } from './prompt-skills.js'
import { type ServedSkills, serveSkills } from './serve-skills.js'
import { SkillLibrary } from './skill-library.js'
import { skillsExtension } from './skills-extension.js'
import type { SkillsHome } from './skills-home.js'

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
  /** Names of skills and bundles that a message brings along when it begins with `/NAME`, for who works in `cwd`. Never rejects. */
  typed(cwd: string): Promise<readonly string[]>
  /** The skills of others whose programs are held to what they declared, for who works in `workspace` and has this line run. `isDecided`: by the look that the policy decided by, where that was just now. Never rejects. */
  programs(
    workspace: string,
    line?: StartedLine,
    how?: { readonly isDecided?: boolean },
  ): Promise<readonly ActingSkill[]>
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
  const prompt = new SkillPrompt(library)
  return {
    afterSession: async (session) => {
      const { Growth } = await import('./learning/growth.js')
      return new Growth({ library, writer, curator }).afterSession(session)
    },
    section: (of) => prompt.section(of),
    served: (cwd) => serveSkills(library, cwd),
    programs: (workspace, line, how) => library.programs(workspace, line, how),
    unknown: (names, cwd) => unknown(library, names, cwd),
    typed: async (cwd) => {
      const [{ skills }, { bundles: own }] = await Promise.all([library.index(cwd), bundles.list()])
      return [...new Set([...own.map(({ name }) => name), ...skills.keys()])]
    },
    list: async (cwd) => {
      const { skills } = await library.index(cwd)
      return [...skills.values()].map(({ name, group, description, source }) => ({ name, group, description, source }))
    },
    extension: skillsExtension({ library, prompt, writer, installer, packs, curator, bundles }),
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
