import type { Runtime } from '@hermes/runtime'
import { type ChatOptions, skillNames } from './chat-options.js'
import { UsageError } from './errors.js'

/** Nobody gets an answer without the skill that `-s` names. Rejects with one line for each skill that is not there. */
export async function refuseUnknownSkills(
  { skills }: Pick<Runtime, 'skills'>,
  options: Pick<ChatOptions, 'skills'>,
  cwd: string,
): Promise<void> {
  if (options.skills === undefined) return
  const problems = await skills.unknown(skillNames(options.skills), cwd)
  if (problems.length > 0) throw new UsageError(problems.join(' '))
}
