import { dirname, join } from 'node:path'
import { SCANNER } from '@hermes/safety'
import type { Skill } from './format/skill.js'
import { scanDescriptions } from './index/scan-descriptions.js'
import type { SkillIndex } from './index/skill-index.js'
import { PromptCache, type PromptSkills } from './prompt-cache.js'
import { type ListedSkill, roomIn, SECTION_FORM, skillsSection } from './prompt-section.js'
import type { SkillLibrary, SkillPlaces } from './skill-library.js'

/** What the model is told of a person's skills at the start of a session. */
export class SkillPrompt {
  readonly #library: SkillLibrary
  readonly #kept: PromptCache

  constructor(library: SkillLibrary) {
    this.#library = library
    const { cacheFile, logger } = library.home
    this.#kept = new PromptCache(join(dirname(cacheFile), 'skills-prompt.json'), `${SECTION_FORM} ${SCANNER}`, logger)
  }

  /** For one who works in `cwd`; `windowTokens`: of the model. Never rejects. */
  async section({ cwd, windowTokens }: { readonly cwd: string; readonly windowTokens: number }): Promise<PromptSkills> {
    const library = this.#library
    const places = await library.places(cwd)
    const uses = library.usage.state()
    const key = keyOf(places, [roomIn(windowTokens), uses, library.home.os])
    const isTrusted = (folder: string) => library.home.trust.isTrusted(folder)
    // Who has looked at the skills already finds them in memory.
    const kept = library.hasLooked || uses === null ? null : await this.#kept.read(key, isTrusted)
    if (kept !== null) return kept
    let made = await this.#from(await library.glanceOf(places), windowTokens)
    // What is told of a skill is what it says now; those that are only counted need not be looked at.
    if (!made.shown.every((skill) => library.isAsRead(skill)))
      made = await this.#from(await library.indexOf(places), windowTokens)
    const { section, index, shown, trust } = made
    const grounds = uses === null ? null : library.groundsOf(index, shown)
    if (grounds !== null) this.#kept.keep({ key, grounds, trust, section })
    return section
  }

  /** Resolves once what was said is kept for the next start. Never rejects. */
  settle(): Promise<void> {
    return this.#kept.settle()
  }

  async #from(index: SkillIndex, windowTokens: number) {
    const own = [...index.skills.values()].filter(({ source }) => source !== 'bundled')
    const { trusted, trust } = await trustedIn(own, this.#library)
    const { listed, steering } = await this.#withoutOrders(own, trusted)
    const { shown, ...words } = skillsSection(listed, { uses: this.#library.usage.all(), windowTokens })
    const section: PromptSkills = { ...words, problems: [...index.problems, ...steering] }
    return { section, index, shown, trust }
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

/** Of skills that come with Hermes only the names count, as those are not for others. */
function keyOf({ look, problems }: SkillPlaces, more: readonly unknown[]): string {
  const { roots, disabled, others } = look
  return JSON.stringify([
    more,
    roots,
    disabled,
    others.map((one) => (one.source === 'bundled' ? one.name : one)),
    problems,
  ])
}

/**
 * Those whose description may stand where the model takes its orders from, and which folders were asked about. That of an installed one was agreed
 * to with it, of one of a plugin its name.
 */
async function trustedIn(own: readonly Skill[], { home }: SkillLibrary) {
  const trusted = new Set<Skill>()
  const trust: (readonly [folder: string, isTrusted: boolean])[] = []
  for (const skill of own) {
    const needsTrust = skill.source === 'shared' || skill.source === 'external'
    const isTrusted = needsTrust ? await home.trust.isTrusted(skill.folder!) : skill.source !== 'plugin'
    if (needsTrust) trust.push([skill.folder!, isTrusted])
    if (isTrusted) trusted.add(skill)
  }
  return { trusted, trust }
}
