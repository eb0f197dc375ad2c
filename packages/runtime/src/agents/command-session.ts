import { HermesError, systemClock } from '@hermes/contracts'
import { type Entry, liveEntries } from '@hermes/contracts/conversation'
import type { CommandSession, CommandTasks } from '@hermes/contracts/extension'
import type { ReadyAgent, Runtime } from '../runtime.js'

/** An agent as far as commands use it. */
type CommandAgent<Next> = Pick<
  ReadyAgent,
  | 'model'
  | 'provider'
  | 'cwd'
  | 'account'
  | 'useAccount'
  | 'children'
  | 'limits'
  | 'models'
  | 'runOwnCommand'
  | 'startTask'
> & {
  readonly agent: Omit<ReadyAgent['agent'], 'close' | 'interrupt' | 'run' | 'steer' | 'takeOver'>
  changeModel(change: Parameters<ReadyAgent['changeModel']>[0]): Promise<Next>
}

/** What a {@link CommandSession} is made of. */
interface CommandSessionOptions<Next> {
  readonly runtime: Pick<Runtime, 'storage'>
  /** The agent of the session now. */
  readonly ready: () => CommandAgent<Next>
  /** Another agent goes on with the session. */
  readonly replaced: (ready: Next) => void
  readonly isBusy: () => boolean
  /** The log of a session that goes on, until its agent has read it. Default: nothing. */
  readonly logged?: () => readonly Entry[]
  /** What the entry point does in its own way. */
  readonly own: Pick<CommandSession, 'stop' | 'steer'> & Partial<Pick<CommandSession, 'title' | 'rename'>>
}

/** The tasks of whatever agent goes on with the session. */
function tasksOf(ready: () => Pick<ReadyAgent, 'children' | 'startTask'>): CommandTasks {
  return {
    start: (goal) => ready().startTask(goal),
    list: () => ready().children.list(),
    kill: (id) => ready().children.kill(id),
    pause: (id) => ready().children.pause(id),
    unpause: (id) => ready().children.unpause(id),
    steer: (id, text) => ready().children.steer(id, text),
  }
}

/** The session of an agent, as commands see it. */
export function createCommandSession<Next>({
  runtime,
  ready,
  replaced,
  isBusy,
  logged = () => [],
  own,
}: CommandSessionOptions<Next>): CommandSession {
  const agent = () => ready().agent
  const { sessionId: id } = agent()
  const stored = async () => (await runtime.storage()).sessions.get(id)
  return {
    id,
    get cwd() {
      return ready().cwd
    },
    get model() {
      return ready().model
    },
    get provider() {
      return ready().provider
    },
    get isBusy() {
      return isBusy()
    },
    entries: () => {
      const known = agent().entries()
      return liveEntries(known.length > 0 ? known : logged())
    },
    title: async () => (await stored())?.title ?? null,
    rename: async (title) => {
      if (!(await stored()))
        throw new HermesError('There is nothing to name yet; say something first.', { code: 'command.usage' })
      await (await runtime.storage()).sessions.update(id, { title }).catch((error: unknown) => {
        if (!HermesError.isInstance(error) || error.code !== 'store.title_taken') throw error
        // The other session may be of another person: its id is not said.
        const message = `Another session has the title "${title}" already; choose another one.`
        throw new HermesError(message, { code: 'command.usage' })
      })
      return (await stored())?.title ?? title
    },
    models: () => ready().models(),
    get reasoningEffort() {
      return agent().sampling().reasoningEffort ?? null
    },
    setReasoningEffort: async (effort) => void (await agent().setSampling({ reasoningEffort: effort })),
    get serviceTier() {
      return agent().sampling().serviceTier ?? null
    },
    setServiceTier: async (tier) => void (await agent().setSampling({ serviceTier: tier })),
    account: () => ready().account(),
    useAccount: (name) => ready().useAccount(name),
    changeModel: async (change) => replaced(await ready().changeModel(change)),
    compact: (options) => agent().compact(options),
    planCompaction: (options) => agent().planCompaction(options),
    undo: (options) => agent().undo(options),
    plan: () => agent().plan(),
    endPlan: (how) => agent().endPlan(how),
    note: (kind, data) => agent().note(kind, data),
    aside: (question, options) => agent().aside(question, options),
    runOwn: (command, { signal }) =>
      ready().runOwnCommand(command, { signal, onOutput: () => undefined, aside: isBusy() }),
    tasks: tasksOf(ready),
    limits: async () => {
      const { describeLimits } = await import('@hermes/models/spending')
      return ready()
        .limits()
        .map((key) => describeLimits(key, systemClock.now()))
    },
    ...own,
  }
}
