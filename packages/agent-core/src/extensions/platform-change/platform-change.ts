import type { Extension, InputEvent } from '@hermes/contracts/extension'
import { type PlatformHint, platformHint } from '../../prompt/platform-hint.js'

const BEGUN_ON = /^(?:built in, for |platform_hints\.)(.+)$/
const ANNOUNCED = /^\[The conversation goes on over (\S+) from here on[.:]/

/**
 * Tells how the agent speaks, with the next message of the person, where a session goes on over another platform than it was told last: the
 * system text stays as it is.
 */
export function platformChange({ hintOf }: { readonly hintOf: (platform: string) => PlatformHint }): Extension {
  return {
    name: 'platform-change',
    setup({ hooks }) {
      hooks.on(
        'input',
        (event) => {
          const text = event.agentPath.length > 1 ? null : announcement(event, hintOf)
          return text === null ? undefined : { before: [{ type: 'text', text, origin: 'reminder' }] }
        },
        { order: 5 },
      )
    },
  }
}

function announcement({ platform, session }: InputEvent, hintOf: (platform: string) => PlatformHint): string | null {
  const layers = session.prompt()?.layers
  if (!layers) return null
  const begun = BEGUN_ON.exec(layers.find(({ name }) => name === 'platform')?.source ?? '')?.[1]
  const last = lastAnnounced(session.entries) ?? begun
  const hint = platformHint(platform, hintOf(platform))
  if (last === platform || (last === undefined && hint === '')) return null
  const how = hint === '' ? ': what was said of how to speak elsewhere is over' : `. ${hint}`
  return `[The conversation goes on over ${platform} from here on${how}]`
}

function lastAnnounced(entries: InputEvent['session']['entries']): string | undefined {
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'message' || entry.message.role !== 'user') continue
    for (const part of entry.message.content) {
      const found = part.type === 'text' && part.origin === 'reminder' ? ANNOUNCED.exec(part.text)?.[1] : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}
