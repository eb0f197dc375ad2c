import type { Clock } from '@hermes/contracts'
import type { CommandResult, Extension } from '@hermes/contracts/extension'
import type { UsageSettings, UsageStorage } from './spending/session-usage.js'

/** Adds `/usage`: what a session has cost, and for the owner what all have. */
export function usageCommand(home: {
  storage(): Promise<UsageStorage>
  readonly settings: UsageSettings
  readonly clock: Clock
  /** What a session has cost, split up. */
  explain(sessionId: string): Promise<CommandResult>
}): Extension {
  return {
    name: 'usage-command',
    setup(api) {
      api.commands.add({
        name: 'usage',
        usage: '[why]',
        summary: 'tokens and money so far; why: by purpose, model, task and tool',
        parameters: { type: 'object', properties: { why: { type: 'string', enum: ['why'], description: 'why' } } },
        duringRun: 'allowed',
        scope: 'anyone',
        run: async ({ why }, { session, caller }) => {
          if (why !== undefined) return home.explain(session!.id)
          const { describeSpending } = await import('./spending/session-usage.js')
          const { settings, clock } = home
          const [storage, limits] = [await home.storage(), caller.isOwner ? await session!.limits() : []]
          const { isOwner } = caller
          const of = { sessionId: session!.id, settings, isOwner, limits, nowMs: clock.now() }
          return { type: 'text', text: await describeSpending({ storage, ...of }) }
        },
      })
    },
  }
}
