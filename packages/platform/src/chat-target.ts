import { HermesError } from '@hermes/contracts'
import type { PlatformTarget } from '@hermes/contracts/platform'

/** Small facts of the store begin so that say where messages to a platform go that name no chat; its name follows. */
export const HOME_CHAT = 'platform.home:'

const NAME = /^[a-z][a-z0-9_]*$/

/** `CHAT` or `CHAT:THREAD`, as rows of the outbox have it: colons and backslashes of an id are escaped. */
export function formatTarget({ chatId, threadId }: PlatformTarget): string {
  return threadId === undefined ? escaped(chatId) : `${escaped(chatId)}:${escaped(threadId)}`
}

/** The opposite of {@link formatTarget}. */
export function parseTarget(text: string): PlatformTarget {
  const [chatId = '', threadId] = (text.match(/(?:\\.|[^\\:])+/gs) ?? []).map((part) =>
    part.replaceAll(/\\(.)/gs, '$1'),
  )
  return threadId === undefined ? { chatId } : { chatId, threadId }
}

/**
 * Where a person wants something sent: `telegram` (`null`: its home channel), `telegram:CHAT`, `telegram:CHAT:THREAD`.
 * @throws HermesError `platform.bad_target`
 */
export function parseAddress(text: string): { readonly platform: string; readonly target: PlatformTarget | null } {
  const [platform = '', ...rest] = text.trim().split(':')
  const [chatId, threadId, ...more] = platform === 'email' ? [rest.join(':')] : rest
  const isFine = NAME.test(platform) && more.length === 0 && !rest.includes('') && (rest.length === 0 || chatId)
  if (!isFine) {
    const message = `"${text}" is no target. Write PLATFORM, PLATFORM:CHAT or PLATFORM:CHAT:THREAD, for example telegram:123456789.`
    throw new HermesError(message, { code: 'platform.bad_target' })
  }
  if (!chatId) return { platform, target: null }
  return { platform, target: threadId === undefined ? { chatId } : { chatId, threadId } }
}

function escaped(id: string): string {
  return id.replaceAll(/[\\:]/g, '\\$&')
}
