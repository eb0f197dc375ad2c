import type { Skill } from './format/skill.js'
import { BUNDLED_HEADS } from './generated/bundled-heads.js'

/** The skills that come with Hermes. */
export const BUNDLED: readonly Skill[] = Object.freeze(
  BUNDLED_HEADS.map(
    ({ name, group, description }): Skill => ({
      ...{ name, group, description },
      ...{ source: 'bundled', folder: null, platforms: [], variables: [], tools: [], capabilities: [] },
    }),
  ),
)

/** What a skill that comes with Hermes says. Loaded with the first one. */
export async function bundledBody(name: string): Promise<string | null> {
  const { BUNDLED_BODIES } = await import('./generated/bundled-bodies.js')
  return BUNDLED_BODIES.get(name) ?? null
}

/** Their names by group, `coding: fix-bug, refactor; git: …`, without those that are switched off. */
export function bundledNames(disabled: ReadonlySet<string>): string {
  const groups = Map.groupBy(
    BUNDLED_HEADS.filter(({ name }) => !disabled.has(name)),
    ({ group }) => group,
  )
  return [...groups].map(([group, skills]) => `${group}: ${skills.map(({ name }) => name).join(', ')}`).join('; ')
}
