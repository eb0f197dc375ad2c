// What handlers of a plugin get: data that came with the call, and calls back for the rest.
import type { CommandContext, MemoryRequest, SubcommandContext } from '@hermes/contracts/extension'
import type { CallPlace, RemotePlace } from '../listing.js'
import { remoteEnvironment, remoteFetch, remotePermit, type World } from './remote-world.js'

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted()
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener(
        'abort',
        () => {
          clearTimeout(timer)
          reject(signal.reason)
        },
        { once: true },
      )
    }),
}

function loggerOf({ channel }: World) {
  const level = (name: string) => (message: string, details?: object) =>
    channel.notify('log', { level: name, message, details })
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** A part that only Hermes itself has. */
const apart = (what: string) => (): never => {
  throw new Error(`${what} is not there for a plugin that runs apart`)
}

const scratches = new Map<string, Map<string, unknown>>()
const MAX_SCRATCHES = 200

/** What handlers share for as long as this process and the session or run last. */
function scratchOf(id: string) {
  const scratch = scratches.get(id) ?? new Map<string, unknown>()
  scratches.delete(id)
  scratches.set(id, scratch)
  if (scratches.size > MAX_SCRATCHES) scratches.delete(scratches.keys().next().value!)
  return <T>(key: string, create: () => T): T => {
    if (!scratch.has(key)) scratch.set(key, create())
    return scratch.get(key) as T
  }
}

const stateOf = (sessionId: string) => ({
  latest: apart('state.latest'),
  compactions: apart('state.compactions'),
  scratch: scratchOf(`session ${sessionId}`),
})

const environmentOf = (world: World, place: RemotePlace | null) =>
  place === null ? null : remoteEnvironment(world, place)

/** What a tool is called with. */
export function toolContext(world: World, { environment, ...place }: CallPlace, signal: AbortSignal) {
  const { channel } = world
  const ref = world.currentCall()
  const remote = environmentOf(world, environment)
  return {
    ...place,
    signal,
    get environment() {
      if (remote === null) throw new Error('This agent has no environment.')
      return remote
    },
    permit: (action: never, options?: object) => remotePermit(world, action, options),
    progress: (text: string, about?: object) => channel.notify('progress', { ref, text, about }),
    notify: (notice: unknown) =>
      channel.notify('notify', { ref, notice: typeof notice === 'function' ? notice() : notice }),
    ask: async (question: object) => (await channel.call('ask', { ref, question }, signal)) as never,
    state: stateOf(place.sessionId),
  }
}

/** What a hook is told. */
export function hookEvent(
  world: World,
  args: {
    readonly place: CallPlace & { readonly runId: string }
    readonly data: {
      readonly messages?: readonly unknown[]
      readonly entries?: readonly unknown[]
      readonly tool?: object
      readonly session: { readonly id: string }
    }
  },
  signal: AbortSignal,
) {
  const { place, data } = args
  const { messages, entries, ...event } = data
  const environment = environmentOf(world, place.environment)
  const ref = world.currentCall()
  const state = stateOf(place.sessionId)
  const session = {
    ...data.session,
    get entries() {
      return entries ?? apart('session.entries (declare "conversation")')()
    },
    messages: () => messages ?? apart('session.messages (declare "conversation")')(),
    prompt: () => null,
    state,
    redact: (text: string) => text,
  }
  return {
    ...event,
    ...{ session, environment, signal, clock, logger: loggerOf(world), state },
    plan: { environment, sessionId: place.sessionId, state, isTainted: place.isTainted },
    perRun: scratchOf(`run ${place.runId}`),
    notice: (text: string, level?: string) => world.channel.notify('notice', { ref, text, level }),
    permit: (action: never, options?: object) => remotePermit(world, action, options),
  }
}

/** What a command is called with. */
export function commandContext(
  world: World,
  context: { readonly session: object | null },
  signal: AbortSignal,
): CommandContext {
  const ref = world.currentCall()
  const session =
    context.session &&
    new Proxy(context.session, {
      get: (known, name) => (name in known ? known[name as never] : apart(`session.${String(name)}`)),
    })
  const notice = (text: string) => world.channel.notify('notice', { ref, text })
  return { ...context, session, commands: [], notice, signal } as unknown as CommandContext
}

/** What a subcommand is called with. */
export function subcommandContext(world: World, context: object, signal: AbortSignal): SubcommandContext {
  const ref = world.currentCall()
  const { channel } = world
  return {
    ...context,
    write: (text: string) => channel.notify('write', { ref, text }),
    warn: (line: string) => channel.notify('warn', { ref, text: line }),
    signal,
  } as unknown as SubcommandContext
}

/** What a memory is opened with. */
export function memoryRequest(world: World, request: object): MemoryRequest {
  const { env } = process
  return {
    ...request,
    secret: (name: string) => env[name],
    fetchTo: () => remoteFetch(world),
    clock,
    logger: loggerOf(world),
  } as unknown as MemoryRequest
}
