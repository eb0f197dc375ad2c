import type { Skill } from './format/skill.js'
import { scanDescriptions } from './index/scan-descriptions.js'
import type { SkillIndex } from './index/skill-index.js'
import { type ListedSkill, type SkillsSection, skillsSection } from './prompt-section.js'
import type { SkillLibrary } from './skill-library.js'

/** The part of the system text, and one line for each skill that is not right. */
type PromptSkills = SkillsSection & { readonly problems: readonly string[] }

/** What the model is told of a person's skills at the start of a session. */
export class SkillPrompt {
  readonly #library: SkillLibrary

  constructor(library: SkillLibrary) {
    this.#library = library
  }

  /** For one who works in `cwd`; `windowTokens`: of the model. Never rejects. */
  async section({ cwd, windowTokens }: { readonly cwd: string; readonly windowTokens: number }): Promise<PromptSkills> {
    const glanced = await this.#from(await this.#library.glance(cwd), windowTokens)
    // What is told of a skill is what it says now; those that are only counted need not be looked at.
    if (glanced.shown.every((skill) => this.#library.isAsRead(skill))) return glanced
    return this.#from(await this.#library.index(cwd), windowTokens)
  }

  async #from({ skills, problems }: SkillIndex, windowTokens: number): Promise<PromptSkills> {
    const own = [...skills.values()].filter(({ source }) => source !== 'bundled')
    const trusted = await trustedIn(own, this.#library)
    const { listed, steering } = await this.#withoutOrders(own, trusted)
    return {
      ...skillsSection(listed, { uses: this.#library.usage.all(), windowTokens }),
      problems: [...problems, ...steering],
    }
  }

  /** Descriptions that read like an order to take over the agent, or hide text, stay out of the prompt, whoever wrote them. */
  async #withoutOrders(own: readonly Skill[], trusted: ReadonlySet<Skill>) {
    const steering: string[] = []
    const listed: ListedSkill[] = []
    const unknown = [...trusted].filter((skill) => skill.rule === undefined)
    const rules = await scanDescriptions(unknown.map(({ description }) => description))
    for (const skill of own) {
      const rule = trusted.has(skill) ? (skill.rule ?? rules.get(skill.description) ?? null) : null
      listed.push({ skill, isTrusted: trusted.has(skill) && rule === null })
      if (rule !== null)
        steering.push(
          `The model is shown skill ${skill.name} without its description: it may try to take over the agent (${rule}). Look at ${skill.folder}`,
        )
    }
    return { listed, steering }
  }
}

/** Those whose description may stand where the model takes its orders from. That of an installed one was agreed to with it, of one of a plugin its name. */
async function trustedIn(own: readonly Skill[], { home }: SkillLibrary): Promise<ReadonlySet<Skill>> {
  const trusted = new Set<Skill>()
  for (const skill of own) {
    const needsTrust = skill.source === 'shared' || skill.source === 'external'
    if (needsTrust ? await home.trust.isTrusted(skill.folder!) : skill.source !== 'plugin') trusted.add(skill)
  }
  return trusted
}
