import { Argument, type Command } from 'commander'
import type { Agent } from '../import-agent/item.js'
import type { Action } from '../io.js'

type Choose = (action: Action) => void

/** Written out, so that the table of commands loads nothing of it. */
const NAMES: readonly Agent[] = ['claude-code', 'codex', 'openclaw', 'hermes']

/** `hermes import-agent …` and `hermes claw …`. */
export function addImportAgent(program: Command, choose: Choose): void {
  const load = () => import('../import-agent/import-agent.js')
  const all = program
    .command('import-agent')
    .description(
      'take skills, memories, servers and rules over from another agent; shown before, undone with one command',
    )
    .addHelpText(
      'after',
      `
Examples:
  hermes import-agent                        which agents are here
  hermes import-agent claude-code --dry-run  what would be taken over
  hermes import-agent codex --secrets        with its keys, which stay there otherwise
  hermes import-agent hermes --source DIR    a home in the layout of Hermes Agent
  hermes import-agent undo                   all as it was before`,
    )
  options(
    all
      .command('from', { isDefault: true, hidden: true })
      .description('the same without this word')
      .addArgument(new Argument('[agent]').choices([...NAMES])),
  ).action((agent, flags) => choose(async (world) => (await load()).importAgent(world, agent, flags)))
  all
    .command('undo')
    .description('take the last import back; what was changed since stays')
    .option('--force', 'also what was changed since')
    .action((flags) => choose(async (world) => (await load()).undo(world, flags)))
  const claw = program.command('claw').description('OpenClaw: take its home over')
  options(claw.command('migrate').description('the same as import-agent openclaw')).action((flags) =>
    choose(async (world) => (await load()).importAgent(world, 'openclaw', flags)),
  )
}

function options(command: Command): Command {
  return takingOver(command.option('--source <folder>', 'its home, where it is not the usual one'))
}

/** The flags of everything that takes something over from another program. */
export function takingOver(command: Command): Command {
  return command
    .option('--secrets', 'take keys and tokens over too, into .env')
    .option('--overwrite', 'replace what is there already')
    .option('--dry-run', 'only show it')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'show it as JSON')
}
