import { createHmac, randomBytes } from 'node:crypto'
import type { PlatformUser } from '@hermes/contracts/platform'
import type { SmallFacts } from './chat-store.js'
import { formatTarget, parseTarget } from './chat-target.js'

const KEY = 'privacy.alias-key'
const KEY_BYTES = 32
const ALIAS = /^id_[0-9a-f]{12}$/

/** Shorter ones stand for anything by themselves. */
const TELLING_CHARS = 5

/** Names that models get for ids of people and chats: the same in every process of a home, and nothing that an id can be guessed from. */
export interface Aliases {
  /** `id_` and 12 hex digits. Of an alias it is that alias. */
  aliasOf(platform: string, id: string): string
  /** The user with an alias for an id; a name that is nothing but the id is gone. */
  userOf<User extends Pick<PlatformUser, 'id' | 'name'>>(platform: string, user: User): User
  /** A target as rows of the outbox have it, with an alias for its chat. */
  targetOf(platform: string, target: string): string
  /** An address as a model writes it, with the id of an alias that was given out by this process; `null` where it is not known. */
  resolve(address: string): string | null
  /** Words of Hermes with aliases in place of the ids that this process gave them for. */
  masked(text: string): string
}

/** The aliases of a home; its key is made on first use. Rejects as the store does. */
export async function openAliases(meta: Pick<SmallFacts, 'get' | 'swap'>): Promise<Aliases> {
  const known = await meta.get(KEY)
  if (known === null) {
    const is = randomBytes(KEY_BYTES).toString('hex')
    // Another process may be first.
    await meta.swap([{ key: KEY, was: null, is }])
  }
  return createAliases((await meta.get(KEY))!)
}

function createAliases(key: string): Aliases {
  const ids = new Map<string, string>()
  const aliasOf = (platform: string, id: string) => {
    if (ALIAS.test(id)) return id
    const digest = createHmac('sha256', key)
      .update(JSON.stringify([platform, id]))
      .digest('hex')
    const alias = `id_${digest.slice(0, 12)}`
    ids.set(`${platform}:${alias}`, id)
    return alias
  }
  return {
    aliasOf,
    userOf: (platform, user) => {
      const { id, name } = user
      return { ...user, id: aliasOf(platform, id), name: name.toLowerCase() === id.toLowerCase() ? '' : name }
    },
    targetOf: (platform, target) => {
      const place = parseTarget(target)
      return formatTarget({ ...place, chatId: aliasOf(platform, place.chatId) })
    },
    resolve: (address) => {
      const [platform = '', chatId = '', ...thread] = address.trim().split(':')
      if (!ALIAS.test(chatId)) return address
      const id = ids.get(`${platform}:${chatId}`)
      return id === undefined ? null : [platform, id, ...thread].join(':')
    },
    masked: (text) => {
      let words = text
      for (const [name, id] of ids) {
        const [platform = '', alias = ''] = name.split(':')
        words = words.replaceAll(idIn(`${platform}:${id}`), `${platform}:${alias}`)
        if (id.length >= TELLING_CHARS) words = words.replaceAll(idIn(id), alias)
      }
      return words
    },
  }
}

/** Where an id stands by itself, not within a longer word or number. */
function idIn(id: string): RegExp {
  const words = id.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${words}(?![\\p{L}\\p{N}_])`, 'gu')
}
