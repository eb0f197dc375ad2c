import type { Extension } from '@hermes/contracts/extension'
import { worktreeCommand } from '../worktree/worktree-command.js'
import { commandsOfApprovals } from './approval-commands.js'
import { commandsOfConversation } from './conversation-commands.js'
import { commandsOfDisplay } from './display-commands.js'
import { commandsOfMarks } from './mark-commands.js'
import { commandsOfRuns } from './run-commands.js'
import type { SessionServices } from './services.js'
import { commandsOfSessions } from './session-commands.js'
import { commandsOfViews } from './view-commands.js'

/** The commands of a session itself; those of other parts come with them. */
export function sessionCommands(services: SessionServices): Extension {
  return {
    name: 'session-commands',
    setup(api) {
      const commands = [
        ...commandsOfConversation(services),
        ...commandsOfSessions(services),
        ...commandsOfMarks(services),
        ...commandsOfRuns(services),
        ...commandsOfApprovals(services),
        ...commandsOfViews(services),
        ...commandsOfDisplay(),
        worktreeCommand(),
      ]
      for (const command of commands) api.commands.add(command)
    },
  }
}
