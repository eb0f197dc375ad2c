import type { CommandContext, CommandResult, Extension } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import type { SmallFacts } from '../chat-store.js'

/** Options of {@link handoffCommand}. */
interface HandoffCommandOptions {
  /** Platforms that a gateway of the home speaks on. */
  readonly platforms: () => readonly string[]
  readonly storage: () => Promise<{
    readonly meta: SmallFacts
    readonly sessions: { get(id: string): Promise<SessionInfo | null> }
  }>
  readonly nowMs: () => number
}

/** Adds `/handoff`: the session goes on in a chat, or leaves the one it is in. */
export function handoffCommand(options: HandoffCommandOptions): Extension {
  return {
    name: 'handoff-command',
    setup(api) {
      api.commands.add({
        name: 'handoff',
        usage: '[PLATFORM]',
        summary: 'go on with this session in a chat (its home channel), or take it out of one',
        parameters: { type: 'object', properties: { platform: { type: 'string', description: 'such as telegram' } } },
        complete: () => options.platforms(),
        run: ({ platform }, context) => run(options, platform as string | undefined, context),
      })
    },
  }
}

async function run(
  { platforms, storage, nowMs }: HandoffCommandOptions,
  platform: string | undefined,
  { session, caller }: CommandContext,
): Promise<CommandResult> {
  const { handOff, takeBack } = await import('../handoff.js')
  const { meta, sessions } = await storage()
  const of = { platforms: platforms(), meta, sessions, nowMs }
  const moving = { sessionId: session!.id, from: caller.platform }
  if (platform === undefined) return { type: 'text', text: await takeBack(of, moving) }
  const line = { type: 'text', text: await handOff(of, platform.toLowerCase(), moving) } as const
  // A terminal is in another session then; elsewhere who writes next says where.
  return caller.changes.includes('new') ? [line, { type: 'change', change: { type: 'new' } }] : line
}
