import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ActingSkill } from '@hermes/contracts/policy'
import { SkillLock } from './lock.js'

/** Where installed skills lie, below the absolute `directory` of the skills of a home. */
export const installedIn = (directory: string): string => new SkillLock(join(directory, '.hub')).directory

/**
 * The installed skills below the absolute `directory`, for the policy and for what holds their programs. A folder that the lock does not vouch
 * for has declared nothing. Never rejects.
 */
export async function skillPrograms(directory: string): Promise<readonly ActingSkill[]> {
  const lock = new SkillLock(join(directory, '.hub'))
  const folders = await readdir(lock.directory).catch(() => [])
  if (folders.length === 0) return []
  const entries = Object.values(await lock.read().catch(() => ({})))
  return folders.map((name) => {
    const head = entries.find(({ folder }) => folder === name)?.head
    const { capabilities = [], variables = [] } = head ?? {}
    return { name: head?.name ?? name, folder: join(lock.directory, name), capabilities, variables }
  })
}
