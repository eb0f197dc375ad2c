// Whom a session may write to, and what becomes of it: nobody is written to who did not agree to hear from the agent.
import { type Clock, HermesError } from '@hermes/contracts'
import { type Chat, type SmallFacts, storedChats, targetOf } from './chat-store.js'
import { formatTarget, HOME_CHAT, parseAddress, parseTarget } from './chat-target.js'
import { type Delivery, deliver, type WatchedOutbox } from './deliver.js'
import type { Outgoing } from './outbox-sender.js'
import type { Pairings } from './pairing.js'
import { type AccessSettings, createAccess } from './platform-access.js'

/** A gateway that runs takes a message within a moment. */
const WAIT_MS = 3_000
const SHOWN = 100
/** What lists call the chat that news go to. */
export const HOME_CHANNEL = 'the home channel'

/** Options of {@link Messaging}. */
export interface MessagingOptions {
  /** Those that a gateway of the home speaks on. */
  readonly platforms: readonly { readonly name: string; readonly access: AccessSettings }[]
  /** Ids that config.yaml gives to people; `null` for the owner's. */
  readonly idsOf: (platform: string) => readonly { readonly id: string; readonly person: string | null }[]
  readonly personOf: (speaker: { readonly platform: string; readonly user: string }) => string | null
  readonly pairings: Pick<Pairings, 'list' | 'isApproved'>
  readonly meta: SmallFacts
  readonly outbox: WatchedOutbox
  readonly clock: Clock
}

/** A chat, and the platform that it is on. */
interface Place {
  readonly platform: string
  /** As rows of the outbox have it. */
  readonly target: string
}

/** One that may be written to. */
interface Reachable extends Place {
  /** Whose it is, for who chooses. */
  readonly what: string
  /** What they call themselves, where config.yaml has no name for them: text from outside. */
  readonly name?: string
}

/** Whom sessions write to. */
export class Messaging {
  readonly #options: MessagingOptions

  constructor(options: MessagingOptions) {
    this.#options = options
  }

  /** Who may be written to by the sessions of a person (`null`: the owner), one hundred at most. */
  async list(person: string | null): Promise<readonly Reachable[]> {
    return (await this.all(person)).slice(0, SHOWN)
  }

  /** As {@link Messaging.list}, without an end. */
  async all(person: string | null): Promise<readonly Reachable[]> {
    const { platforms } = this.#options
    return (await Promise.all(platforms.map(({ name }) => this.#reachable(name, person)))).flat()
  }

  /**
   * Where `telegram`, `telegram:CHAT` or `telegram:CHAT:THREAD` leads.
   * @throws HermesError `platform.bad_target`, `platform.not_agreed` for who is not to be written to by sessions of that person.
   */
  async find(address: string, person: string | null): Promise<Place> {
    const { platform, target } = parseAddress(address)
    const names = this.#options.platforms.map(({ name }) => name)
    if (!names.includes(platform))
      throw new HermesError(`No gateway of this home speaks on ${platform}. Platforms: ${names.join(', ')}.`, {
        code: 'platform.bad_target',
      })
    const home = await this.#options.meta.get(HOME_CHAT + platform)
    if (target === null) {
      if (home !== null) return { platform, target: home }
      const message = `${platform} has no home channel: name a chat, ${platform}:CHAT, or have the person type /sethome in one.`
      throw new HermesError(message, { code: 'platform.bad_target' })
    }
    const wanted = { ...target, chatId: sameCase(platform, target.chatId) }
    const known = await this.#reachable(platform, person)
    if (known.some((one) => parseTarget(one.target).chatId === wanted.chatId))
      return { platform, target: formatTarget(wanted) }
    const message = `${address} did not agree to hear from this agent, so nothing was sent. action list says who did; others are let in by the person: hermes pairing`
    throw new HermesError(message, { code: 'platform.not_agreed' })
  }

  /** Writes a message for a chat, once for its key, and waits a moment for it to be sent. */
  async send(
    key: string,
    { platform, target }: Place,
    { body, signal }: { readonly body: Outgoing; readonly signal: AbortSignal },
  ): Promise<Delivery> {
    const { outbox, clock } = this.#options
    const message = { key, platform, target, body: { ...body } as never }
    return deliver(message, { outbox, waitMs: WAIT_MS, clock, signal })
  }

  async #reachable(platform: string, person: string | null): Promise<readonly Reachable[]> {
    const { meta, idsOf } = this.#options
    const home = await meta.get(HOME_CHAT + platform)
    const chats = await this.#admitted(platform)
    const own = chats.filter((chat) => chat.person === person)
    const named = idsOf(platform).filter((one) => one.person === person)
    return unique([
      ...(home === null ? [] : [{ platform, target: home, what: HOME_CHANNEL }]),
      ...own.map((chat) => ({ platform, target: targetOf(chat), what: `this person's chat (${chat.chat.type})` })),
      ...named.map(({ id }) => ofId(platform, id, 'this person')),
      ...(person === null ? await this.#others(platform, chats) : []),
    ])
  }

  /** Who else agreed: known to the sessions of the owner alone. */
  async #others(platform: string, chats: readonly Chat[]): Promise<readonly Reachable[]> {
    const { idsOf, pairings, platforms } = this.#options
    const { access } = platforms.find(({ name }) => name === platform)!
    const listed = [...access.allowedUsers, ...access.admins].filter((id) => id !== '*')
    const paired = (await pairings.list()).find((one) => one.platform === platform)?.approved ?? []
    return [
      ...idsOf(platform).map(({ id, person }) => ofId(platform, id, person ?? 'the owner')),
      ...paired.map(({ userId, name }) => ({ ...ofId(platform, userId, 'was let in by a code'), name })),
      ...listed.map((id) => ofId(platform, id, 'may talk to the agent')),
      ...[...access.allowedChats].map((id) => ofId(platform, id, 'an allowed group')),
      ...chats.map((chat) => ({ platform, target: targetOf(chat), what: `a ${chat.chat.type}`, name: chat.user.name })),
    ]
  }

  /** Chats of whoever may still talk to the agent there. */
  async #admitted(platform: string): Promise<readonly Chat[]> {
    const { platforms, pairings, meta, personOf } = this.#options
    const { access: settings } = platforms.find(({ name }) => name === platform)!
    const access = createAccess({ platform, settings, pairings, personOf: (user) => personOf({ platform, user }) })
    const chats = await storedChats(meta, platform)
    const admissions = await Promise.all(chats.map((chat) => access(chat.chat, chat.user)))
    return chats.filter((_, index) => admissions[index]!.type === 'admitted')
  }
}

function ofId(platform: string, id: string, what: string): Reachable {
  return { platform, target: formatTarget({ chatId: sameCase(platform, id) }), what }
}

/** Addresses of mail are the same in capitals. */
function sameCase(platform: string, id: string): string {
  return platform === 'email' ? id.toLowerCase() : id
}

function unique(all: readonly Reachable[]): readonly Reachable[] {
  return [...new Map(all.toReversed().map((one) => [one.target, one])).values()].reverse()
}
