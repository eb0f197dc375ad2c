import { join } from 'node:path'
import type { HermesConfig } from '@hermes/config'
import type { Clock } from '@hermes/contracts'
import type { Aliases } from '@hermes/platform'
import type { MessagingService } from '@hermes/platform/tools'
import type { Storage } from '@hermes/storage'
import type { People } from '../people/people.js'
import type { ReachedPlatform } from './chat-accounts.js'

/** What messages to chats depend on. */
interface HomeMessagingOptions {
  readonly home: string
  readonly config: HermesConfig
  /** Those that it has an account on. */
  readonly platforms: readonly ReachedPlatform[]
  readonly people: People
  readonly storage: () => Promise<Storage>
  readonly redact: (text: string) => string
  readonly clock: Clock
}

/** How sessions of a home write to chats; `null` where it has an account on no platform. */
export function homeMessaging(options: HomeMessagingOptions): MessagingService | null {
  const { home, config, platforms, people, storage, redact, clock } = options
  if (platforms.length === 0) return null
  const isMasked = config.privacy.redact_pii
  let masked: Aliases | null = null
  return {
    aliases: async () => {
      if (isMasked) masked ??= await (await import('@hermes/platform')).openAliases((await storage()).meta)
      return masked
    },
    outputs: join(home, 'output'),
    redact,
    open: async () => {
      const { createPairings, Messaging } = await import('@hermes/platform')
      const { meta, outbox } = await storage()
      const pairings = createPairings({ folder: join(home, 'pairing'), clock })
      const idsOf = (platform: string) =>
        Object.values(config.people).flatMap((ids) =>
          (ids[platform] ?? []).map((id) => ({ id, person: people.personOf({ platform, user: id }) })),
        )
      return new Messaging({ platforms, idsOf, personOf: people.personOf, pairings, meta, outbox, clock })
    },
    sendToSession: async (mail) => {
      const { sendToSession } = await import('@hermes/platform')
      const { sessions, inbox, meta } = await storage()
      return sendToSession({ platforms: platforms.map(({ name }) => name), sessions, inbox, meta, clock }, mail)
    },
    about: async (sessionId) => {
      const session = await (await storage()).sessions.get(sessionId)
      const title = session?.title ?? null
      return {
        person: session?.person ?? null,
        name: title === null ? 'another conversation' : `the conversation “${title}”`,
      }
    },
  }
}
