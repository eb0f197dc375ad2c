import { nearestName } from '@hermes/contracts'
import type { Skill } from '../format/skill.js'

/** The share of the words of two descriptions that they have in common, from which on they are about the same. */
const SAME_WORDS = 0.5

/** Skills that are probably about the same, the nearest first, at most three. Pure. */
export function nearDuplicates(
  { name, description }: Pick<Skill, 'name' | 'description'>,
  skills: readonly Skill[],
  least = SAME_WORDS,
): readonly Skill[] {
  const words = wordsOf(`${name.replaceAll('-', ' ')} ${description}`)
  const parts = new Set(name.split('-'))
  return skills
    .filter((skill) => skill.name !== name)
    .map((skill) => {
      const shared = overlap(words, wordsOf(`${skill.name.replaceAll('-', ' ')} ${skill.description}`))
      const sameParts = overlap(parts, new Set(skill.name.split('-')))
      const isNear = name.length > 5 && nearestName(name, [skill.name]) !== null
      return { skill, score: Math.max(shared, isNear || sameParts === 1 ? 1 : 0) }
    })
    .filter(({ score }) => score >= least)
    .sort((one, other) => other.score - one.score)
    .slice(0, 3)
    .map(({ skill }) => skill)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [])
}

function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const both = [...left].filter((word) => right.has(word)).length
  return both === 0 ? 0 : both / (left.size + right.size - both)
}
