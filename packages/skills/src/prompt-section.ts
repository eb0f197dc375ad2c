import { estimateTokens, type TextSource } from '@hermes/contracts/conversation'
import type { Skill } from './format/skill.js'
import type { SkillUse } from './usage.js'

/** What the system text has room for, with the words around the list. */
const MOST_TOKENS = 4_000
const SHARE_OF_WINDOW = 0.02
const MAX_DESCRIPTION = 160
/** Of a name alone, however short: of hundreds that do not fit nothing need be put together. */
const LEAST_TOKENS = estimateTokens('- x\n')

const GUIDANCE = `Skills are proven ways to do a kind of task. Load one that fits with skill_view before you begin, three at most; none fits: go on without.
After hard work that succeeded, or when the user corrects you, ask how it went and offer to save what worked; fix a skill that misled you (skill_manage, by tool_search).`

const HEADING = "The user's skills:"
const moreLine = (count: number) => `(${count} more: skills_list)`

/** What is said of the same skills is another thing with another one of these; to be raised where lines are chosen or written another way. */
export const SECTION_FORM = ['1', MOST_TOKENS, SHARE_OF_WINDOW, MAX_DESCRIPTION, GUIDANCE, HEADING].join(' ')

/** How much room there is for what a window has. In tokens. */
export const roomIn = (windowTokens: number): number => Math.min(MOST_TOKENS, windowTokens * SHARE_OF_WINDOW)

/** The part of the system text about skills. */
export interface SkillsSection {
  readonly text: string
  /** For `hermes prompt show`: how many of one's own are named. */
  readonly source: string
  /** Of what is shown: none for what is the person's own, or was agreed to. */
  readonly sources: readonly TextSource[]
}

/** The part, and the skills that it names. */
interface ChosenSection extends SkillsSection {
  readonly shown: readonly Skill[]
}

/** A skill with whether its own words may stand in the prompt. */
export interface ListedSkill {
  readonly skill: Skill
  readonly isTrusted: boolean
}

/**
 * Names one's own skills with short descriptions, by name, in at most 2 % of the window, and 4,000 tokens with all words around them. What does not fit loses its
 * description, then its place, least used first.
 */
export function skillsSection(
  own: readonly ListedSkill[],
  { uses, windowTokens }: { readonly uses: ReadonlyMap<string, SkillUse>; readonly windowTokens: number },
): ChosenSection {
  const around = estimateTokens([GUIDANCE, HEADING, moreLine(own.length), ''].join('\n'))
  const budget = Math.floor(Math.min(MOST_TOKENS - around, windowTokens * SHARE_OF_WINDOW))
  const byUse = own.map((one) => ({ ...one, use: uses.get(one.skill.name) })).sort(compare)
  const lines = new Map<string, string>()
  let tokens = 0
  const fits = (name: string, line: string) => {
    const cost = estimateTokens(`${line}\n`)
    if (tokens + cost > budget) return false
    tokens += cost
    lines.set(name, line)
    return true
  }
  for (const { skill, isTrusted } of byUse) {
    if (budget - tokens < LEAST_TOKENS) break
    if (!fits(skill.name, lineOf(skill, isTrusted))) fits(skill.name, `- ${skill.name}`)
  }
  const shown = [...lines].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, line]) => line)
  const left = own.length - shown.length
  const more = left > 0 ? [moreLine(left)] : []
  const text = own.length === 0 ? GUIDANCE : [GUIDANCE, HEADING, ...shown, ...more].join('\n')
  const sources = own.flatMap(({ isTrusted, skill: { name, source: from, folder } }): readonly TextSource[] =>
    isTrusted && lines.has(name) && folder !== null && (from === 'project' || from === 'shared' || from === 'external')
      ? [{ type: 'file', path: folder }]
      : [],
  )
  const source = own.length === 0 ? 'skills' : `skills, ${shown.length} of ${own.length} of your own`
  return { text, source, sources, shown: own.flatMap(({ skill }) => (lines.has(skill.name) ? [skill] : [])) }
}

type UsedSkill = ListedSkill & { readonly use: SkillUse | undefined }

function compare(left: UsedSkill, right: UsedSkill): number {
  const [one, other] = [left.use, right.use]
  return (
    (other?.used ?? 0) - (one?.used ?? 0) ||
    (other?.lastUsedMs ?? 0) - (one?.lastUsedMs ?? 0) ||
    (left.skill.name < right.skill.name ? -1 : 1)
  )
}

function lineOf({ name, description, source }: Skill, isTrusted: boolean): string {
  const from = source === 'user' ? '' : ` (${source})`
  return isTrusted ? `- ${name}${from}: ${shortened(description)}` : `- ${name}${from}`
}

/** Its first sentence where that is short enough, else its beginning. */
function shortened(description: string): string {
  if (description.length <= MAX_DESCRIPTION) return description
  const sentence = /^.{20,160}?[.!?](?=\s)/.exec(description)?.[0]
  return (
    sentence ??
    `${description
      .slice(0, MAX_DESCRIPTION - 1)
      .toWellFormed()
      .trimEnd()}…`
  )
}
