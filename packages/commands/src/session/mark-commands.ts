import type { Command } from '@hermes/contracts/extension'
import { MARKS, type Storage } from '@hermes/storage'
import { findSession } from './find-session.js'
import { parameters, say, sessionOf, text } from './parameters.js'
import type { SessionServices } from './services.js'

/** `/pin` and `/archive`: which sessions come first in lists, and which are in none. */
export function commandsOfMarks(services: Pick<SessionServices, 'storage'>): readonly Command[] {
  return [
    markCommand(services, {
      name: 'pin',
      summary: 'have a session first in lists and never pruned; --off lets go',
      mark: MARKS.pinned,
      on: 'is pinned: first in lists, and never pruned.',
      off: 'is not pinned.',
    }),
    markCommand(services, {
      name: 'archive',
      summary: 'take a session out of the lists; --off, or going on with it, brings it back',
      mark: MARKS.archived,
      on: 'is archived. Searches find it; so does: hermes sessions list --archived',
      off: 'is in the lists.',
    }),
  ]
}

interface MarkWords {
  readonly name: string
  readonly summary: string
  readonly mark: string
  /** What the session is then. */
  readonly on: string
  readonly off: string
}

function markCommand({ storage: open }: Pick<SessionServices, 'storage'>, words: MarkWords): Command {
  return {
    name: words.name,
    usage: '[SESSION] [--off]',
    summary: words.summary,
    duringRun: 'allowed',
    needsSession: false,
    parameters: parameters({
      off: { type: 'boolean', default: false },
      session: text('id, title, or the start of an id; without one this session'),
    }),
    run: async ({ session: named, off }, context) => {
      const storage = await open()
      const id = named === undefined ? sessionOf(context).id : (await findSession(storage, named as string)).id
      await mark(storage, id, { tag: words.mark, isOff: off === true })
      return say(`${id} ${off === true ? words.off : words.on}`)
    },
  }
}

async function mark(
  { sessions }: Pick<Storage, 'sessions'>,
  id: string,
  { tag, isOff }: { readonly tag: string; readonly isOff: boolean },
): Promise<void> {
  const others = (await sessions.tags(id)).filter((one) => one !== tag)
  await sessions.setTags(id, isOff ? others : [...others, tag])
}
