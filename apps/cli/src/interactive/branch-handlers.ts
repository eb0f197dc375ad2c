import { UsageError } from '../errors.js'
import { clip } from '../render/style.js'
import type { Talk } from './talk.js'

const SHOWN_CHARS = 60

/** `/undo [N]`: takes back the last messages of the person and all that followed them. */
export async function undo(talk: Talk, args: string): Promise<void> {
  const turns = args === '' ? 1 : Number(args)
  if (!Number.isInteger(turns) || turns < 1) throw new UsageError('It takes a number of messages: /undo 2')
  const undone = await talk.seat.agent.undo({ turns })
  if (!undone) return talk.say('There is nothing to take back yet.')
  talk.say(`Took back ${undone.messages} messages, from “${clip(undone.text, SHOWN_CHARS)}” on. Files stay: /rollback`)
}

/** `/branch [NAME]`: the conversation goes on in a copy; the original stays as it is. */
export async function branch(talk: Talk, args: string): Promise<void> {
  const storage = await talk.runtime.storage()
  const session = await storage.sessions.get(talk.seat.agent.sessionId)
  if (!session) throw new UsageError('There is nothing to branch off from yet.')
  const { forkOf } = await import('../commands/sessions-branching.js')
  const fork = await forkOf(storage, session, args === '' ? {} : { title: args })
  await talk.sit(fork)
  talk.title = null
  talk.say(`Now in ${fork.title ?? fork.id}. The other one stays: /resume ${session.id}`)
}
