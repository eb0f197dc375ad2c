import { HermesError } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'

/** What tools of a session gave to the model so far, and what of it skills are. In characters. */
interface SkillShare {
  skillBytes: number
  resultBytes: number
}

/** Of all results: beyond that skills take the place of the work they are for. */
export const MOST_SHARE = 0.1
/** At the beginning skills are all there is: so much of them is let through, which is a dozen of the usual size. */
const FREE_BYTES = 32_000

/** What is counted of a session, while it is open in this process. */
export const shareOf = (state: ToolState): SkillShare =>
  state.scratch('skills.share', () => ({ skillBytes: 0, resultBytes: 0 }))

/**
 * Keeps what skills say below a tenth of what tools give. The first one of a session is shown whatever its size.
 * @throws HermesError `skills.too_much`
 */
export function requireRoom(state: ToolState, name: string, bytes: number): void {
  const { skillBytes, resultBytes } = shareOf(state)
  if (skillBytes === 0 || skillBytes + bytes <= Math.max(FREE_BYTES, MOST_SHARE * resultBytes)) return
  throw new HermesError(
    `${name} is not shown: with it skills would be ${skillBytes + bytes} characters of this session, more than a tenth of what tools gave. Go on with those that are loaded; a message of the user brings it along: Use the skill ${name}.`,
    { code: 'skills.too_much' },
  )
}
