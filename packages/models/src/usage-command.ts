import type { Clock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import type { UsageSettings, UsageStorage } from './spending/session-usage.js'

/** Adds `/usage`: what a session has cost, and for the owner what all have. */
export function usageCommand(home: {
  storage(): Promise<UsageStorage>
  readonly settings: UsageSettings
  readonly clock: Clock
}): Extension {
  return {
    name: 'usage-command',
    setup(api) {
      api.commands.add({
        name: 'usage',
        summary: 'tokens and money so far',
        duringRun: 'allowed',
        scope: 'anyone',
        run: async (_, { session, caller }) => {
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
