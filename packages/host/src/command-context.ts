import { offeredTo } from '@hermes/commands'
import type { CommandCaller, CommandContext, CommandSession } from '@hermes/contracts/extension'
import { createCommandSession, type Runtime } from '@hermes/runtime'
import type { SessionAgent, SessionHandle } from './session-host.js'

/** Options of {@link openCommandContext}. */
interface CommandContextOptions {
  readonly runtime: Pick<Runtime, 'storage' | 'extensions'>
  /** The session that the command is for; `null` where none has begun yet. */
  readonly handle: SessionHandle | null
  readonly caller: CommandCaller
  /** Where the caller is, without a session. Absolute. */
  readonly cwd: string
  /** Whether a run of the session is under way. */
  readonly isBusy: () => boolean
  /** Ends the run under way. Default: it is interrupted. */
  readonly stop?: () => void
  /** Tells the run under way something. Default: as words of the owner. */
  readonly steer?: CommandSession['steer']
  readonly notice: CommandContext['notice']
  /** Default: nobody can be asked for a line. */
  readonly ask?: CommandContext['ask']
  readonly signal: AbortSignal
}

/**
 * What a command works with in a session of a host; its agent is made where there is none.
 * Rejects as {@link SessionHandle.agent}.
 */
export async function openCommandContext(options: CommandContextOptions): Promise<CommandContext> {
  const { runtime, handle, caller, notice, ask, signal } = options
  const session = handle && (await commandSession(handle, options))
  const all = runtime.extensions.list('command').map(({ item }) => item)
  // Without a session those of one are listed too: the next message begins it.
  const commands = offeredTo(caller, session ?? { id: '' }, all)
  return { caller, session, cwd: session?.cwd ?? options.cwd, commands, notice, ...(ask ? { ask } : {}), signal }
}

async function commandSession(handle: SessionHandle, options: CommandContextOptions): Promise<CommandSession> {
  const { runtime, isBusy, stop = () => handle.interrupt(), steer = (text) => handle.steer(text) } = options
  let agent = await handle.agent()
  const logged = agent.agent.entries().length > 0 ? [] : await (await runtime.storage()).log.entries(handle.id)
  return createCommandSession<SessionAgent>({
    runtime,
    ready: () => ({ ...agent, changeModel: (change) => handle.changeModel(change) }),
    replaced: (next) => {
      agent = next
    },
    isBusy,
    logged: () => logged,
    own: { stop, steer },
  })
}
