import { open, readFile } from 'node:fs/promises'
import { createMemoryStore } from '@hermes/agent-core'
import { type Clock, systemClock } from '@hermes/contracts'
import type { NewEntry } from '@hermes/contracts/conversation'
import type { InboxMessage, NewSession, SessionChange, SessionStore } from '@hermes/contracts/store'

/** One line of the journal: what was done to the store, and when. */
type Line = { readonly atMs: number } & (
  | { readonly type: 'create'; readonly session: NewSession }
  | {
      readonly type: 'append'
      readonly id: string
      readonly entries: readonly NewEntry[]
      readonly take?: readonly string[]
    }
  | { readonly type: 'update'; readonly id: string; readonly change: SessionChange }
  | { readonly type: 'send'; readonly message: InboxMessage }
)

/** A store for one process: sessions in memory, and a file with a line for each change, from which they are made again. */
export async function openJournalStore(options: {
  readonly path: string
  readonly clock?: Pick<Clock, 'now'>
}): Promise<SessionStore & AsyncDisposable> {
  const { path, clock = systemClock } = options
  let replayedMs: number | null = null
  const memory = createMemoryStore({ clock: { now: () => replayedMs ?? clock.now() } })
  for (const line of await readLines(path)) {
    replayedMs = line.atMs
    await replay(memory, line)
  }
  replayedMs = null

  const file = await open(path, 'a', 0o600)
  let last: Promise<unknown> = Promise.resolve()
  /** What memory takes is written; whoever called is answered once it is on disk. Changes are written in their order. */
  const change = <T>(apply: () => Promise<T>, line: (result: T) => Line | null): Promise<T> => {
    const work = last.then(async () => {
      const result = await apply()
      const written = line(result)
      if (written) {
        await file.appendFile(`${JSON.stringify(written)}\n`)
        await file.datasync()
      }
      return result
    })
    last = work.catch(() => undefined)
    return work
  }
  const now = () => clock.now()
  const inbox = memory.inbox!
  return {
    sessions: {
      get: memory.sessions.get,
      create: (session) =>
        change(
          () => memory.sessions.create(session),
          () => ({ type: 'create', atMs: now(), session }),
        ),
      update: (id, update) =>
        change(
          () => memory.sessions.update(id, update),
          () => ({ type: 'update', atMs: now(), id, change: update }),
        ),
    },
    log: {
      entries: memory.log.entries,
      append: (id, entries, { lease, atMs = now(), take = [] }) =>
        change(
          () => memory.log.append(id, entries, { lease, atMs, take }),
          () => ({ type: 'append', atMs, id, entries, take }),
        ),
    },
    // A lease is for writers of one moment: it does not outlive the process.
    leases: memory.leases,
    inbox: {
      setWill: (message) => inbox.setWill(message),
      waiting: (id) => inbox.waiting(id),
      send: (message) =>
        change(
          () => inbox.send(message),
          (isNew) => (isNew ? { type: 'send', atMs: now(), message } : null),
        ),
    },
    async [Symbol.asyncDispose]() {
      await last
      await file.close()
    },
  }
}

async function replay(memory: SessionStore, line: Line): Promise<void> {
  switch (line.type) {
    case 'create':
      return void (await memory.sessions.create(line.session))
    case 'append': {
      const { id, entries, atMs, take = [] } = line
      const lease = await memory.leases.acquire(id, { owner: 'journal' })
      await memory.log.append(id, entries, { lease, atMs, take })
      return lease.release()
    }
    case 'update':
      return memory.sessions.update(line.id, line.change)
    case 'send':
      return void (await memory.inbox!.send(line.message))
    default:
      line satisfies never
  }
}

/** A last line that a crash cut short was never promised to anybody. */
async function readLines(path: string): Promise<readonly Line[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
}
