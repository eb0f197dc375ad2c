// Which session a chat is in, and what it still has to do: rows of the store, so that a process that ends loses none of it.
import { createHash } from 'node:crypto'
import type { PlatformChat, PlatformUser } from '@hermes/contracts/platform'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import { chatKey } from './chat-key.js'
import { formatTarget, HOME_CHAT, parseTarget } from './chat-target.js'

const CHAT = 'chat:'
const ACTION = 'chat.action:'
const FIRST_ID = 'chat.first-id:'
const ID_DIGITS = 32
/** As long as the outbox keeps what is over. */
const KEEP_ACTIONS_MS = 7 * 24 * 3_600_000

/** Small facts of the store. @see `MetaStore` of `@hermes/storage` */
export interface SmallFacts {
  get(key: string): Promise<string | null>
  set(key: string, value: string | null): Promise<void>
  swap(
    changes: readonly { readonly key: string; readonly was: string | null; readonly is: string | null }[],
    also?: { readonly send?: readonly NewOutboxMessage[] },
  ): Promise<boolean>
  list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]>
}

/** A conversation on a platform. */
export interface Chat {
  readonly key: string
  readonly platform: string
  readonly chat: Pick<PlatformChat, 'id' | 'type' | 'threadId'>
  /** Who began it. */
  readonly user: Pick<PlatformUser, 'id' | 'name'>
  /** Whose it is; `null` for the owner. */
  readonly person: string | null
  readonly sessionId: string
  /** Counts the sessions it has had. */
  readonly generation: number
  /** Something is to be done: a message waits, or its answer is not whole. */
  readonly isOpen: boolean
  /** How often a process began with it while it was open. */
  readonly begun: number
  /** When something was to be done last. Unix milliseconds. */
  readonly heardAtMs?: number
  /** The id that the chat had first, where it has another one by now: its sessions and its memory are those of that id. */
  readonly firstId?: string
  /** Its session came from elsewhere, and works in its own folder. */
  readonly keepsFolder?: true
  /** What its people chose to see of calls of tools, in place of what config.yaml says. */
  readonly calls?: ShownCalls
  /** The same of the line after answers. */
  readonly hasFooter?: boolean
}

/** How much a chat sees of calls: none, each tool once in a row, a line each, or also what came of it. */
export type ShownCalls = 'off' | 'new' | 'all' | 'verbose'

/** Something that a person did beside saying words to the model: done once, also when the platform tells it twice. */
export type ChatAction =
  | { readonly type: 'command'; readonly line: string }
  | { readonly type: 'steer'; readonly text: string }
  /** Words after those that wait. */
  | { readonly type: 'more'; readonly text: string }
  | { readonly type: 'answer'; readonly questionId: string; readonly text: string }

/** An action with who did it and where. */
export interface KeptAction {
  readonly id: string
  readonly action: ChatAction
  readonly chatKey: string
  readonly user: Pick<PlatformUser, 'id' | 'name'>
  readonly messageId: string
  readonly atMs: number
  readonly isDone: boolean
}

/** Who is meant by a chat of a platform. */
interface ChatPlace {
  readonly platform: string
  readonly chat: PlatformChat
  readonly sender: PlatformUser
}

/** Options of {@link ChatStore}. */
interface ChatStoreOptions {
  readonly meta: SmallFacts
  readonly personOf: (speaker: {
    readonly platform: string
    readonly user: string
    readonly chatKey: string
    readonly isGroup: boolean
  }) => string | null
  readonly keys: { readonly groupSessionsPerUser: boolean; readonly threadSessionsPerUser: boolean }
}

/** The chats of a home. Rejects as the store does. */
export class ChatStore {
  readonly #options: ChatStoreOptions

  constructor(options: ChatStoreOptions) {
    this.#options = options
  }

  /** The conversation that a message belongs to; a new one is not written down before it is opened. */
  async of({ platform, chat, sender }: ChatPlace): Promise<Chat> {
    const key = chatKey({ platform, chat, sender }, this.#options.keys)
    const known = await this.get(key)
    if (known) return known
    const isGroup = chat.type !== 'dm'
    const first = await this.firstIdOf(platform, chat.id)
    const person = this.#options.personOf({ platform, user: sender.id, chatKey: first ?? chat.id, isGroup })
    const { id, type, threadId } = chat
    const place = { id, type, ...(threadId === undefined ? {} : { threadId }) }
    const user = { id: sender.id, name: sender.name }
    const sessionId = sessionIdOf(key, person, 0)
    const firstId = first === null ? {} : { firstId: first }
    return { key, platform, chat: place, user, person, ...firstId, sessionId, generation: 0, isOpen: false, begun: 0 }
  }

  async get(key: string): Promise<Chat | null> {
    const text = await this.#options.meta.get(CHAT + key)
    return text === null ? null : ({ ...(JSON.parse(text) as Omit<Chat, 'key'>), key } satisfies Chat)
  }

  async list(platform: string): Promise<readonly Chat[]> {
    return storedChats(this.#options.meta, platform)
  }

  async put(chat: Chat): Promise<Chat> {
    await storeChat(this.#options.meta, chat)
    return chat
  }

  /**
   * Makes of a chat as it is stored, `null` before it was opened, what `change` says, `null` for no change; resolves with what is stored then.
   * Nothing that is written meanwhile is lost: `change` is called again with it.
   */
  async change(key: string, change: (stored: Chat | null) => Chat | null): Promise<Chat | null> {
    for (;;) {
      const stored = await this.get(key)
      const next = change(stored)
      if (next === null) return stored
      const { key: _, ...is } = next
      const swap = stored ? chatChange(stored, next) : { key: CHAT + key, was: null, is: JSON.stringify(is) }
      if (await this.#options.meta.swap([swap])) return next
    }
  }

  /** The id that a chat had first; `null` where it is the same still. */
  firstIdOf(platform: string, chatId: string): Promise<string | null> {
    return this.#options.meta.get(`${FIRST_ID}${platform}:${chatId}`)
  }

  /** Everything said there is under the chat's new id from now on. */
  async move(platform: string, fromChatId: string, toChatId: string): Promise<void> {
    const { meta } = this.#options
    const firstId = (await this.firstIdOf(platform, fromChatId)) ?? fromChatId
    await meta.set(`${FIRST_ID}${platform}:${toChatId}`, firstId)
    for (const chat of await this.list(platform)) {
      if (chat.chat.id !== fromChatId) continue
      const place = { ...chat.chat, id: toChatId }
      const key = chatKey({ platform, chat: place, sender: chat.user }, this.#options.keys)
      await this.put({ ...chat, chat: place, firstId, key })
      for (const action of await this.#actions(platform))
        if (!action.isDone && action.chatKey === chat.key)
          await meta.set(ACTION + action.id, JSON.stringify({ ...action, chatKey: key }))
      await meta.set(CHAT + chat.key, null)
    }
    const home = await meta.get(HOME_CHAT + platform)
    const target = home === null ? null : parseTarget(home)
    if (target?.chatId === fromChatId) await this.setHome(platform, formatTarget({ ...target, chatId: toChatId }))
  }

  /** Where messages to a platform go that name no chat. */
  async setHome(platform: string, target: string): Promise<void> {
    await this.#options.meta.set(`${HOME_CHAT}${platform}`, target)
  }

  /** Writes an action down; `false` when it was heard before. */
  async addAction(action: KeptAction): Promise<boolean> {
    const { meta } = this.#options
    if ((await meta.get(ACTION + action.id)) !== null) return false
    await meta.set(ACTION + action.id, JSON.stringify(action))
    return true
  }

  /** Where an action belongs, also when its chat has another id by now. */
  async chatOf({ id, chatKey: first }: KeptAction): Promise<Chat | null> {
    const chat = await this.get(first)
    if (chat) return chat
    const text = await this.#options.meta.get(ACTION + id)
    return text === null ? null : this.get((JSON.parse(text) as KeptAction).chatKey)
  }

  async endAction(action: KeptAction): Promise<void> {
    await this.#options.meta.set(ACTION + action.id, JSON.stringify({ ...action, isDone: true }))
  }

  /** What was not done, the oldest first; forgets what was done long ago. */
  async openActions(platform: string, nowMs: number): Promise<readonly KeptAction[]> {
    const actions = await this.#actions(platform)
    for (const { id, isDone, atMs } of actions)
      if (isDone && nowMs - atMs > KEEP_ACTIONS_MS) await this.#options.meta.set(ACTION + id, null)
    return actions.filter(({ isDone }) => !isDone).sort((one, other) => one.atMs - other.atMs)
  }

  async #actions(platform: string): Promise<readonly KeptAction[]> {
    const rows = await this.#options.meta.list(`${ACTION}${platform}:`)
    return rows.map(({ value }) => JSON.parse(value) as KeptAction)
  }
}

/** The conversations of a platform that were opened once. */
export async function storedChats(meta: Pick<SmallFacts, 'list'>, platform: string): Promise<readonly Chat[]> {
  const rows = await meta.list(`${CHAT}agent:main:${platform}:`)
  return rows.map(({ key, value }) => ({ ...(JSON.parse(value) as Omit<Chat, 'key'>), key: key.slice(CHAT.length) }))
}

/** Writes down which session a conversation is in, and what it has to do. */
async function storeChat(meta: SmallFacts, { key, ...chat }: Chat): Promise<void> {
  await meta.set(CHAT + key, JSON.stringify(chat))
}

/** A conversation as it is stored that becomes another, for `swap`. */
export function chatChange({ key, ...was }: Chat, { key: _, ...is }: Chat) {
  return { key: CHAT + key, was: JSON.stringify(was), is: JSON.stringify(is) }
}

/** The chat as it goes on in a new session. */
export function renewedChat({ keepsFolder: _, ...chat }: Chat): Chat {
  const generation = chat.generation + 1
  return { ...chat, generation, sessionId: sessionIdOf(chat.key, chat.person, generation) }
}

/** Where messages to a conversation go, as rows of the outbox have it. */
export function targetOf({ chat }: Pick<Chat, 'chat'>): string {
  const { id, threadId } = chat
  return formatTarget({ chatId: id, ...(threadId === undefined ? {} : { threadId }) })
}

/** The same in every process. */
function sessionIdOf(key: string, person: string | null, generation: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, person, generation]))
    .digest('hex')
  return `chat-${digest.slice(0, ID_DIGITS)}`
}
