import { HermesError } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'
import type { SkillRecords } from '../curator/skill-records.js'

/** What tools gave to the model, and what of it skills are. In characters. */
interface SkillShare {
  skillBytes: number
  resultBytes: number
}

/** What is counted of an open session, and what the home had come to before it. */
interface SessionShare extends SkillShare {
  readonly before: Readonly<SkillShare>
}

/** Of all results: beyond that skills take the place of the work they are for. */
export const MOST_SHARE = 0.1
/** Of a home, once: so much is let through before there is anything to compare it with, a dozen skills of the usual size. */
const FREE_BYTES = 32_000
/** Of the first skill of a session, whatever the home has come to: four times the longest one that comes with Hermes. */
const FIRST_BYTES = 8_000

/** What is counted of a session, while it is open in this process. */
export const shareOf = (state: ToolState, records: SkillRecords): SessionShare =>
  state.scratch('skills.share', () => {
    const { skillBytes, resultBytes } = records.read()
    return { skillBytes: 0, resultBytes: 0, before: { skillBytes, resultBytes } }
  })

/**
 * How many of `bytes` characters of a skill may be shown: all where what skills said in this home stays below a tenth of what tools gave. Where it
 * does not, the beginning of the first one of a session, and of others none.
 * @throws HermesError `skills.too_much`
 */
export function roomFor(share: Readonly<SessionShare>, name: string, bytes: number): number {
  const { before, skillBytes, resultBytes } = share
  const after = before.skillBytes + skillBytes + bytes
  if (after <= Math.max(FREE_BYTES, MOST_SHARE * (before.resultBytes + resultBytes))) return bytes
  if (skillBytes === 0) return Math.min(bytes, FIRST_BYTES)
  throw new HermesError(
    `${name} is not shown: with it skills would be ${after} characters of what this home saw, more than a tenth of what tools gave. Go on with those that are loaded; a message of the user brings it along: Use the skill ${name}.`,
    { code: 'skills.too_much' },
  )
}

/** The first `room` characters of what a skill says, by lines where it has any, with how more of it is seen. `path`: the file it is, of the skill. */
export function cutTo(
  room: number,
  text: string,
  { name, path }: { readonly name: string; readonly path: string },
): string {
  if (text.length <= room) return text
  const end = text.lastIndexOf('\n', room)
  const shown = text.slice(0, end > room / 2 ? end : room).toWellFormed()
  return `${shown}\n\n[The first ${shown.length} of ${text.length} characters: skills are more than a tenth of what tools gave in this home. All of it once they gave more: skill_view with file_path ${path}. A message of the user brings it along: Use the skill ${name}.]`
}
