import { realpathSync, statSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import type { ActingSkill } from '@hermes/contracts/policy'

/** The skills, each with those of the absolute `paths` that lead into it by links alone. Never throws. */
export function withLinks(skills: readonly ActingSkill[], paths: readonly string[]): readonly ActingSkill[] {
  if (skills.length === 0) return skills
  const byFolder = Map.groupBy(skills, ({ folder }) => realPath(folder) ?? folder)
  const links = new Map<ActingSkill, string[]>()
  for (const path of paths)
    for (const skill of reachedBy(path, byFolder)) links.set(skill, [...(links.get(skill) ?? []), path])
  return skills.map((skill) => (links.has(skill) ? { ...skill, links: links.get(skill)! } : skill))
}

function reachedBy(path: string, byFolder: ReadonlyMap<string, readonly ActingSkill[]>): readonly ActingSkill[] {
  for (let folder = realPath(path); folder !== null && folder !== dirname(folder); folder = dirname(folder)) {
    const skills = byFolder.get(folder)
    if (skills !== undefined)
      return skills.some((one) => `${path}${sep}`.startsWith(`${one.folder}${sep}`)) ? [] : skills
  }
  return []
}

function realPath(path: string): string | null {
  try {
    // Most words name nothing: an error for each takes longer than a look.
    return statSync(path, { throwIfNoEntry: false }) === undefined ? null : realpathSync.native(path)
  } catch {
    return null
  }
}
