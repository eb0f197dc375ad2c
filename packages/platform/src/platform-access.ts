// Who may talk to the agent on a platform.
import type { PlatformChat, PlatformUser } from '@hermes/contracts/platform'
import type { Pairings } from './pairing.js'

/** What a home says of one platform: config.yaml, joined with variables. */
export interface AccessSettings {
  readonly allowedUsers: ReadonlySet<string>
  readonly allowsAll: boolean
  readonly allowedChats: ReadonlySet<string>
  readonly admins: ReadonlySet<string>
  readonly strangers: 'pair' | 'ignore'
}

/** `pair`: a stranger who may ask to be let in. `ignored`: one who gets no word. */
type Admission =
  | { readonly type: 'admitted'; readonly isAdmin: boolean }
  | { readonly type: 'pair' }
  | { readonly type: 'ignored' }

/** Options of {@link createAccess}. */
interface AccessOptions {
  readonly platform: string
  readonly settings: AccessSettings
  readonly pairings: Pick<Pairings, 'isApproved'>
  /** Whether config.yaml knows the person of this id: `null` for the owner. */
  readonly personOf: (userId: string) => string | null
  /** The id that a chat had first, where it has another one by now: config.yaml may name it so. Default: none has. */
  readonly firstIdOf?: (chatId: string) => Promise<string | null>
}

/** Asked again for each message and each button. Rejects where pairings cannot be read: then nobody gets in who is not in the configuration. */
export function createAccess({ platform, settings, pairings, personOf, firstIdOf }: AccessOptions) {
  const { allowedUsers, allowsAll, allowedChats, admins, strangers } = settings
  const isAll = allowsAll || allowedUsers.has('*')
  return async (chat: Pick<PlatformChat, 'id' | 'type'>, { id }: Pick<PlatformUser, 'id'>): Promise<Admission> => {
    const person = personOf(id)
    const isOwner = person === null
    const isNamed = isOwner || !person.startsWith(`${platform}:`)
    const isListed = isAll || isNamed || allowedUsers.has(id) || admins.has(id)
    const isInGroup = async () => allowedChats.has(chat.id) || allowedChats.has((await firstIdOf?.(chat.id)) ?? '')
    if (isListed || (chat.type !== 'dm' && (await isInGroup())) || (await pairings.isApproved(platform, id)))
      return { type: 'admitted', isAdmin: isOwner || admins.has(id) }
    return { type: chat.type === 'dm' && strangers === 'pair' ? 'pair' : 'ignored' }
  }
}

/** Says who may do what. */
export type Access = ReturnType<typeof createAccess>
