import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import { MARKS, type Storage } from '@hermes/storage'
import { describeSession, findSession, type ShownSession, shownSessions, toMinute } from './find-session.js'
import { parameters, say, sessionOf, text, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

const SHOWN_SESSIONS = 10
const PICKED_SESSIONS = 200

/** Which session one is in, and which there are. */
export function commandsOfSessions(services: SessionServices): readonly Command[] {
  return [
    {
      name: 'new',
      aliases: ['reset', 'clear'],
      summary: 'start a new session',
      changes: ['new'],
      run: () => [{ type: 'change', change: { type: 'new' } }, say('A new session.')],
    },
    {
      name: 'reload',
      summary: 'read configuration, keys, extensions and plugins anew, and go on here',
      changes: ['reload'],
      run: () => ({ type: 'change', change: { type: 'reload' } }),
    },
    {
      name: 'resume',
      aliases: ['switch'],
      usage: 'NAME',
      summary: 'go on with another session',
      parameters: parameters({ name: text('id, title, or the start of an id') }),
      changes: ['open'],
      complete: async () =>
        (await shownSessions(await services.storage(), { limit: SHOWN_SESSIONS })).map((session) => ({
          value: session.id,
          detail: describeSession(session),
        })),
      run: ({ name }, context) => resume(services, name as string | undefined, context),
    },
    {
      name: 'sessions',
      summary: 'the newest sessions, pinned ones first',
      duringRun: 'allowed',
      needsSession: false,
      parameters: parameters({
        limit: {
          type: 'integer',
          minimum: 1,
          default: SHOWN_SESSIONS,
          description: 'how many: a whole number of at least 1',
        },
        source: text('where they began'),
        tag: text('a tag'),
        archived: { type: 'boolean', default: false },
      }),
      usage: '[LIMIT] [--archived]',
      run: (args, context) => list(services, args as unknown as ListArguments, context),
    },
    {
      name: 'title',
      usage: 'TEXT',
      summary: 'name this session, or show its name',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({ text: text('a name') }),
      run: async ({ text: title }, context) => {
        const session = sessionOf(context)
        if (title === undefined) return say((await session.title()) ?? 'This session has no title yet.')
        return say(`This session is called ${await session.rename(title as string)}.`)
      },
    },
    {
      name: 'branch',
      aliases: ['fork'],
      summary: 'go on in a copy of this session',
      parameters: parameters({ name: text('a name for the copy') }),
      changes: ['open'],
      run: async ({ name }, context) => {
        const storage = await services.storage()
        const session = await storage.sessions.get(sessionOf(context).id)
        if (!session) throw usageError('There is nothing to branch off from yet.')
        const fork = await forkSession(storage, session, {
          id: services.newSessionId(),
          ...(name === undefined ? {} : { title: name as string }),
        })
        const change = { type: 'open', sessionId: fork.id, recap: false } as const
        return [{ type: 'change', change }, say(`The other one stays: /resume ${session.id}`)]
      },
    },
  ]
}

async function resume(
  services: SessionServices,
  name: string | undefined,
  context: CommandContext,
): Promise<CommandResult> {
  const storage = await services.storage()
  if (name !== undefined) {
    const { id } = await findSession(storage, name)
    return { type: 'change', change: { type: 'open', sessionId: id, recap: true } }
  }
  const others = (await shownSessions(storage, { limit: PICKED_SESSIONS })).filter(
    ({ id }) => id !== context.session?.id,
  )
  if (others.length === 0) throw usageError('There is no other session yet.')
  const options = others.map((session) => ({ label: describeSession(session), line: `/resume ${session.id}` }))
  return { type: 'choice', question: 'Which session?', options }
}

interface ListArguments {
  readonly limit: number
  readonly source?: string
  readonly tag?: string
  readonly archived: boolean
}

async function list(services: SessionServices, args: ListArguments, context: CommandContext): Promise<CommandOutput> {
  const { archived: isArchived, ...filter } = args
  const { source, tag } = filter
  const narrowed = `${source === undefined ? '' : ` from ${source}`}${tag === undefined ? '' : ` with the tag ${tag}`}`
  return {
    type: 'table',
    rows: (await listed(await services.storage(), args)).map((session) => ({
      cells: [
        session.id,
        toMinute(session.lastActiveAtMs),
        `${session.messageCount} ${session.messageCount === 1 ? 'message' : 'messages'}${session.isPinned ? ', pinned' : ''}`,
        session.title ?? session.preview,
      ],
      isCurrent: session.id === context.session?.id,
      data: session,
    })),
    empty: emptyList(isArchived ? `${narrowed} in the archive` : narrowed),
  }
}

async function listed(
  storage: Storage,
  { archived: isArchived, ...filter }: ListArguments,
): Promise<readonly ShownSession[]> {
  if (!isArchived) return shownSessions(storage, filter)
  const archived = await shownSessions(storage, { ...filter, tag: MARKS.archived, limit: Number.MAX_SAFE_INTEGER })
  const { tag } = filter
  const withTag =
    tag === undefined
      ? null
      : await storage.sessions.list({ ...filter, includeArchived: true, limit: Number.MAX_SAFE_INTEGER })
  const ids = withTag && new Set(withTag.map(({ id }) => id))
  return archived.filter(({ id }) => ids === null || ids.has(id)).slice(0, filter.limit)
}

function emptyList(narrowed: string): string {
  return narrowed === '' ? 'No sessions yet. Start one with: hermes' : `No sessions${narrowed}.`
}

/**
 * A copy of a session, called like it with a number unless `title` is given.
 * @throws HermesError `command.usage` when it has no message of that number.
 */
export async function forkSession(
  storage: Storage,
  session: SessionInfo,
  { id, at, title }: { readonly id: string; readonly at?: number; readonly title?: string },
): Promise<SessionInfo> {
  if (at !== undefined && !(await storage.log.entries(session.id)).some(({ seq }) => seq === at))
    throw usageError(`${session.id} has no message #${at}; \`hermes sessions show ${session.id}\` has the numbers.`)
  const named = title ?? (session.title === null ? undefined : await storage.sessions.nextTitle(session.title))
  return storage.sessions.fork({
    from: session.id,
    id,
    ...(at === undefined ? {} : { upToSeq: at }),
    ...(named === undefined ? {} : { title: named }),
  })
}
