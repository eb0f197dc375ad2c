import type { Entry } from '@hermes/contracts/conversation'
import type { CommandContext, CommandOutput, Extension } from '@hermes/contracts/extension'
import { clipped, parameters, say, sessionOf, text, usageError } from '../session/parameters.js'
import { voicesOf } from './voices.js'

const KIND = 'personality'
const NONE: ReadonlySet<string> = new Set(['none', 'default', 'neutral'])

/** What personalities need of a home. */
interface PersonalityOptions {
  /** `display.personality`: that of new sessions; empty or `none` for none. */
  readonly chosen: string
  /** `personalities` of config.yaml. */
  readonly own: Parameters<typeof voicesOf>[0]
}

/**
 * How the agent speaks. New sessions have what config.yaml chooses in their system text; another one chosen in a session leads its next
 * message, so that the prefix keeps its bytes.
 */
export function personalities({ chosen, own }: PersonalityOptions): Extension {
  return {
    name: 'personalities',
    setup(api) {
      const voices = voicesOf(own)
      api.prompt.section({
        name: 'personality',
        render: ({ platform }) => {
          const words = platform === null || NONE.has(chosen) ? undefined : voices.get(chosen)
          return words && `How you speak:\n${words}`
        },
      })
      api.commands.add({
        name: 'personality',
        usage: '[NAME | none]',
        summary: 'how the agent speaks, from the next message on',
        parameters: parameters({ name: text('a personality') }),
        complete: (words) => (words.length === 0 ? [...voices.keys(), 'none'] : []),
        run: ({ name }, context) =>
          name === undefined ? list(voices, chosen, context) : choose(voices, (name as string).trim(), context),
      })
    },
  }
}

function list(voices: ReadonlyMap<string, string>, chosen: string, context: CommandContext): CommandOutput {
  const now = personalityIn(sessionOf(context).entries()) ?? chosen
  const rows = [...voices].map(([name, words]) => ({
    cells: [name, clipped(words)],
    isCurrent: name === now,
  }))
  return { type: 'table', rows, empty: 'There are none.' }
}

async function choose(
  voices: ReadonlyMap<string, string>,
  name: string,
  context: CommandContext,
): Promise<CommandOutput> {
  const session = sessionOf(context)
  const words = voices.get(name)
  if (words === undefined && !NONE.has(name))
    throw usageError(`There is no personality "${name}". There are: ${[...voices.keys()].join(', ')}, none.`)
  await session.note(KIND, { name: words === undefined ? '' : name })
  const reminder =
    words === undefined
      ? '[From here on you speak as you do without any personality.]'
      : `[From here on you speak like this, whatever was said of it before:\n${words}]`
  await session.note('steer.queued', { text: reminder, origin: 'reminder' })
  return say(words === undefined ? 'No personality from your next message on.' : `${name}, from your next message on.`)
}

/** The one chosen in a session; empty for none, `null` where nothing was chosen. */
function personalityIn(entries: readonly Entry[]): string | null {
  const entry = entries.findLast((candidate) => candidate.type === 'note' && candidate.kind === KIND)
  return entry?.type === 'note' ? String(entry.data['name']) : null
}
