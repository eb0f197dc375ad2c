import type { PlatformChat, PlatformUser } from '@hermes/contracts/platform'

/** Which conversations of a chat are one. */
interface ChatKeyOptions {
  /** In a group each person has a conversation of their own. Default `true`. */
  readonly groupSessionsPerUser?: boolean
  /** The same in a thread. Default `false`. */
  readonly threadSessionsPerUser?: boolean
}

/**
 * What a conversation is known by: `agent:main:PLATFORM:TYPE:CHAT[:THREAD][:USER]`. The same in every process of the home.
 * @see seed 001 section 15
 */
export function chatKey(
  {
    platform,
    chat,
    sender,
  }: { readonly platform: string; readonly chat: PlatformChat; readonly sender: Pick<PlatformUser, 'id'> },
  { groupSessionsPerUser = true, threadSessionsPerUser = false }: ChatKeyOptions = {},
): string {
  const { id, type, threadId } = chat
  const isOwn = type === 'group' && (threadId === undefined ? groupSessionsPerUser : threadSessionsPerUser)
  const kind = type !== 'dm' && threadId !== undefined ? 'thread' : type
  const parts = [platform, kind, id, ...(threadId === undefined ? [] : [threadId]), ...(isOwn ? [sender.id] : [])]
  return ['agent', 'main', ...parts.map((part) => part.replaceAll(/[\\:]/g, '\\$&'))].join(':')
}

/** Whether what is said in a conversation is seen by several people. */
export function isShared(key: string): boolean {
  const [, , , kind, ...rest] = key.match(/(?:\\.|[^\\:])+/gs) ?? []
  return kind === 'thread' || kind === 'channel' || (kind === 'group' && rest.length < 2)
}
