import { createSessionId } from '@hermes/agent-core'
import { findSession, forkSession } from '@hermes/commands'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { clip, createStyle } from '../render/style.js'

const MAX_SESSIONS = 10_000

/** `hermes sessions fork NAME`: prints the id of the copy. */
export async function sessionsFork(
  io: Io,
  name: string,
  { at, title }: { readonly at?: number; readonly title?: string },
): Promise<number> {
  if (at !== undefined && (!Number.isInteger(at) || at < 1))
    throw new UsageError('--at takes the number of a message; `hermes sessions show` has them.')
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const fork = await forkSession(storage, session, {
      id: createSessionId(Date.now()),
      ...(at === undefined ? {} : { at }),
      ...(title ? { title } : {}),
    })
    io.stdout.write(`${fork.id}\n`)
    io.stderr.write(`Go on there with: hermes -r ${fork.id}\n`)
    return EXIT.ok
  })
}

/** `hermes sessions tree [NAME]`: parents above, what came from them indented below. */
export async function sessionTree(
  io: Io,
  name: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<number> {
  return withStorage(io, async (storage) => {
    const family =
      name === undefined ? await allFamilies(storage) : await familyOf(storage, await findSession(storage, name))
    const lines = treeLines(family)
    for (const { session, depth } of lines) {
      if (json) io.stdout.write(`${JSON.stringify({ ...session, depth })}\n`)
      else io.stdout.write(`${line(io, session, depth)}\n`)
    }
    if (lines.length === 0 && !json)
      io.stderr.write('No session came from another one yet. See: hermes sessions fork\n')
    return EXIT.ok
  })
}

async function familyOf(storage: Storage, session: SessionInfo): Promise<readonly SessionInfo[]> {
  const root =
    (await storage.sessions.ancestors(session.id)).find(({ parentSessionId }) => parentSessionId === null) ?? session
  return [root, ...(await storage.sessions.descendants(root.id))]
}

async function allFamilies(storage: Storage): Promise<readonly SessionInfo[]> {
  const among = { limit: MAX_SESSIONS, includeEmpty: true, includeArchived: true }
  const children = await storage.sessions.list({ ...among, source: 'subagent' })
  const sessions = [...(await storage.sessions.list(among)), ...children]
  const ids = new Set(sessions.map(({ id }) => id))
  const parents = new Set(sessions.map(({ parentSessionId }) => parentSessionId))
  return sessions.filter(
    ({ id, parentSessionId }) => parents.has(id) || (parentSessionId !== null && ids.has(parentSessionId)),
  )
}

interface TreeLine {
  readonly session: SessionInfo
  readonly depth: number
}

/** Each session after the one it came from; of several the oldest first. */
function treeLines(sessions: readonly SessionInfo[]): readonly TreeLine[] {
  const ids = new Set(sessions.map(({ id }) => id))
  const children = Map.groupBy(sessions, ({ parentSessionId }) =>
    parentSessionId !== null && ids.has(parentSessionId) ? parentSessionId : null,
  )
  const lines: TreeLine[] = []
  const add = (parent: string | null, depth: number) => {
    const own = [...(children.get(parent) ?? [])].sort((left, right) => left.startedAtMs - right.startedAtMs)
    for (const session of own) {
      lines.push({ session, depth })
      add(session.id, depth + 1)
    }
  }
  add(null, 0)
  return lines
}

function line(io: Io, { id, title, preview, messageCount }: SessionInfo, depth: number): string {
  const style = createStyle(io.stdout)
  const indent = depth === 0 ? '' : `${'   '.repeat(depth - 1)}└─ `
  const count = `  ${messageCount} ${messageCount === 1 ? 'message' : 'messages'}  `
  const room = Math.max(io.stdout.columns() - indent.length - id.length - count.length, 20)
  return `${style.dim(indent)}${style.bold(id)}${style.dim(count)}${clip(title ?? preview, room)}`
}
