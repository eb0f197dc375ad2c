import { findSession } from '@hermes/commands'
import type { SessionInfo } from '@hermes/contracts/store'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'

/** `hermes sessions rename NAME TITLE`. */
export async function renameSession(io: Io, name: string, title: string): Promise<number> {
  if (title.trim() === '') throw new UsageError('The new title is empty.')
  return withStorage(io, async (storage) => {
    const { id } = await findSession(storage, name)
    await storage.sessions.update(id, { title })
    io.stdout.write(`${id} is now called ${(await storage.sessions.get(id))?.title}\n`)
    return EXIT.ok
  })
}

/** `hermes sessions tag NAME [TAG…]`: adds or removes them, and shows all there are then. */
export async function tagSession(
  io: Io,
  name: string,
  words: readonly string[],
  { remove }: { readonly remove?: boolean },
): Promise<number> {
  const named = words.map((word) => word.trim())
  if (named.includes('')) throw new UsageError('A tag is empty.')
  if (remove && named.length === 0) throw new UsageError('Name the tags to remove.')
  return withStorage(io, async (storage) => {
    const { id } = await findSession(storage, name)
    const before = await storage.sessions.tags(id)
    const after = remove ? before.filter((tag) => !named.includes(tag)) : [...new Set([...before, ...named])]
    if (named.length > 0) await storage.sessions.setTags(id, after)
    const tags = await storage.sessions.tags(id)
    io.stdout.write(tags.length === 0 ? `${id} has no tags\n` : `${id}  ${tags.join(' ')}\n`)
    return EXIT.ok
  })
}

/** `hermes sessions clear NAME`: asks, unless told not to. */
export async function clearSession(io: Io, name: string, { yes }: { readonly yes?: boolean }): Promise<number> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const question = `Remove all messages of ${textOf(session)}? They cannot be brought back.`
    if (!yes && !(await confirm(io, question, 'yes, remove them'))) return nothing(io)
    await storage.sessions.clear(session.id)
    io.stdout.write(`Cleared ${session.id}\n`)
    return EXIT.ok
  })
}

/** `hermes sessions delete NAME`: asks, unless told not to. */
export async function deleteSession(io: Io, name: string, { yes }: { readonly yes?: boolean }): Promise<number> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const question = `Delete ${textOf(session)}? It cannot be brought back.`
    if (!yes && !(await confirm(io, question, 'yes, delete it'))) return nothing(io)
    await storage.sessions.delete(session.id)
    io.stdout.write(`Deleted ${session.id}\n`)
    return EXIT.ok
  })
}

function textOf({ id, title, preview, messageCount }: SessionInfo): string {
  return `${id} (${title ?? preview}, ${messageCount} ${messageCount === 1 ? 'message' : 'messages'})`
}

function nothing(io: Io): number {
  io.stderr.write('Nothing was deleted.\n')
  return EXIT.failed
}
