// "Use the skill NAME." at the start of a person's message brings the skill along: commands and `-s` write that line. So does `$NAME` anywhere
// in it, where there is such a skill: the same sign before another word is a variable, or money. Where nobody takes commands, `/NAME` of a skill or
// a bundle and `/skill NAME` reach this as words, and mean the same.
import { errorLine, HermesError } from '@hermes/contracts'
import { estimateTokens, type TextPart, type UserPart } from '@hermes/contracts/conversation'
import type { InputEvent } from '@hermes/contracts/extension'
import type { Bundle, BundleStore } from './bundles/bundle-store.js'
import type { SkillIndex } from './index/skill-index.js'
import { loadSkill } from './load-skill.js'
import type { SkillLibrary } from './skill-library.js'
import { shownSkill } from './tools/skill-view.js'

const LINE = /^Use the skills? ([a-z0-9-]+(?:, [a-z0-9-]+)*)\.(?:\s|$)/
const TYPED = /^\/(skill\s+)?([a-z][a-z0-9-]{0,63})(?=\s|$)/
const MARKED = /(?<![^\s("'])\$([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w/=$-])/g
const MOST = 5
/** Of all skills of a message but the first, which a person wants whole. */
const MOST_TOKENS = 40_000

/** The line that has a message bring skills along. */
export function useLine(names: readonly string[]): string {
  return `Use the skill${names.length === 1 ? '' : 's'} ${names.join(', ')}.`
}

/** What the skills say that a message begins with; what cannot be loaded is named to the person and the model. Never rejects. */
export async function attachSkills(
  event: InputEvent,
  library: SkillLibrary,
  bundles: Pick<BundleStore, 'list'>,
): Promise<readonly UserPart[]> {
  const words = wordsOf(event.input)
  const [named, marked, typed] = [namedIn(words), markedIn(words), TYPED.exec(words.trimStart())]
  if (named.length + marked.length === 0 && typed === null) return []
  const cwd = event.environment?.root ?? event.environment?.cwd() ?? library.home.cwd
  const index = await library.index(cwd)
  const { skills, instruction } = await typedSkills(typed, index, bundles)
  const names = [...new Set([...named, ...skills, ...marked.filter((name) => index.skills.has(name))])]
  const parts: TextPart[] = instruction === '' ? [] : [{ type: 'text', text: `\n${instruction}`, origin: 'reminder' }]
  let tokens = 0
  for (const name of names.slice(0, MOST)) {
    try {
      const skill = library.require(index, name)
      const loaded = await loadSkill(skill, library)
      const before = tokens
      tokens += estimateTokens(loaded.text)
      if (before > 0 && tokens > MOST_TOKENS) throw tooMuch(skill.name)
      library.usage.note(skill.name, library.home.clock.now())
      const text = `\n${[...loaded.notes, shownSkill(skill, loaded, library.home)].join('\n\n')}\n`
      parts.push(
        loaded.sources === null
          ? { type: 'text', text, origin: 'reminder' }
          : { type: 'text', text, origin: 'external', sources: loaded.sources },
      )
    } catch (error) {
      const line = errorLine(error)
      event.notice(line)
      parts.push({ type: 'text', text: `\n[${line}]`, origin: 'reminder' })
    }
  }
  if (names.length > MOST) event.notice(`Only the first ${MOST} skills are loaded.`)
  return parts
}

const tooMuch = (name: string) =>
  new HermesError(
    `Skill ${name} is not brought along: the skills of this message have more than ${MOST_TOKENS.toLocaleString('en')} tokens. Name it in a message of its own.`,
    {
      code: 'skills.not_loaded',
    },
  )

function wordsOf(input: InputEvent['input']): string {
  return typeof input === 'string' ? input : firstWords(input)
}

function namedIn(words: string): readonly string[] {
  return LINE.exec(words.trimStart())?.[1]?.split(', ') ?? []
}

/** What a command of a skill or a bundle would bring; a path, or a word with a stroke before it, brings nothing. */
async function typedSkills(
  typed: RegExpExecArray | null,
  { skills }: SkillIndex,
  bundles: Pick<BundleStore, 'list'>,
): Promise<Pick<Bundle, 'skills' | 'instruction'>> {
  if (typed === null) return { skills: [], instruction: '' }
  const [, isSkill, name = ''] = typed
  const bundle = isSkill ? undefined : (await bundles.list()).bundles.find((one) => one.name === name)
  return bundle ?? { skills: isSkill || skills.has(name) ? [name] : [], instruction: '' }
}

function markedIn(words: string): readonly string[] {
  return [...words.matchAll(MARKED)].map(([, name]) => name!)
}

function firstWords(parts: readonly UserPart[]): string {
  const part = parts.find((one) => one.type === 'text' && (one.origin ?? 'user') === 'user')
  return part?.type === 'text' ? part.text : ''
}
