import type { Skill } from './format/skill.js'
import { type ListedSkill, type SkillsSection, skillsSection } from './prompt-section.js'
import type { SkillLibrary } from './skill-library.js'

/** The part of the system text, and one line for each skill that is not right. */
type PromptSkills = SkillsSection & { readonly problems: readonly string[] }

/** What the model is told of a person's skills at the start of a session. */
export class SkillPrompt {
  readonly #library: SkillLibrary
  /** What the scanner said of a description: the same words are looked at once in a process. */
  #scanned: ReadonlyMap<string, string | null> = new Map()

  constructor(library: SkillLibrary) {
    this.#library = library
  }

  /** For one who works in `cwd`; `windowTokens`: of the model. Never rejects. */
  async section({ cwd, windowTokens }: { readonly cwd: string; readonly windowTokens: number }): Promise<PromptSkills> {
    const { skills, problems } = await this.#library.index(cwd)
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
    const rules = await this.#scan([...trusted].map(({ description }) => description))
    for (const skill of own) {
      const rule = trusted.has(skill) ? rules.get(skill.description)! : null
      listed.push({ skill, isTrusted: trusted.has(skill) && rule === null })
      if (rule !== null)
        steering.push(
          `The model is shown skill ${skill.name} without its description: it may try to take over the agent (${rule}). Look at ${skill.folder}`,
        )
    }
    return { listed, steering }
  }

  /** The rule that each may break; `null` for none. */
  async #scan(descriptions: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const known = this.#scanned
    const fresh = descriptions.filter((text) => !known.has(text))
    if (fresh.length === 0) return known
    const { scanContext } = await import('@hermes/safety/scan')
    const ruleOf = (text: string) => scanContext(text)[0]?.rule ?? null
    const rules = new Map<string, string | null>()
    // Hundreds of short texts take ten times as long as one of their length, so each is looked at alone only where a heap of them is not clean.
    for (const heap of heapsOf(fresh)) {
      const isClean = ruleOf(heap.join(APART)) === null
      for (const text of heap) rules.set(text, isClean ? null : ruleOf(text))
    }
    // Only what there is now is kept.
    const now = new Map(descriptions.map((text) => [text, (known.has(text) ? known : rules).get(text)!] as const))
    this.#scanned = now
    return now
  }
}

/** Neither a word nor a row of letters goes over this. */
const APART = '\n|\n'
/** As short as what the scanner decodes all runs of. */
const MAX_HEAP_CHARS = 3_000

function heapsOf(texts: readonly string[]): readonly (readonly string[])[] {
  const heaps: string[][] = []
  let left = 0
  for (const text of texts) {
    if (text.length > left) {
      heaps.push([])
      left = MAX_HEAP_CHARS
    }
    heaps.at(-1)!.push(text)
    left -= text.length + APART.length
  }
  return heaps
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
