import { UsageError } from './errors.js'
import { canAsk, type Io } from './io.js'

/**
 * Asks a person; `yes` is the label of the answer that lets it happen. With `needsEnter` a letter only marks an answer: for what is asked while
 * somebody may be typing something else. @throws UsageError where nobody can be asked.
 */
export async function confirm(io: Io, title: string, yes: string, { needsEnter = false } = {}): Promise<boolean> {
  if (!canAsk(io)) throw new UsageError('Nobody can be asked here. To go on without asking: --yes')
  const { createAsker } = await import('./interactive/person.js')
  const options = [
    { label: 'no', key: 'n', needsEnter },
    { label: yes, key: 'y', needsEnter },
  ]
  const answer = await createAsker(io).pick({ title, options, freeText: false })
  return answer.type === 'option' && answer.index === 1
}
