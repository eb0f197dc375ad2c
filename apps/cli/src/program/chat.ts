import { Command, Option } from 'commander'
import type { Action } from '../action.js'
import type { Io } from '../io.js'

declare const __HERMES_VERSION__: string

const EXAMPLES = `
Examples:
  hermes                                 a conversation
  hermes -c                              resumes the newest session of this project
  hermes "What does this project do?"    one answer
  git diff | hermes chat -q review       piped text comes with the question

Options of a conversation (-c, -r, -m, --provider, --plan, --yolo …): hermes chat --help`

/** The program without any command. Its own words about mistakes are held back: `main` has better ones. */
export function createProgram(io: Io): Command {
  return new Command('hermes')
    .description('An AI agent in your terminal. Without a command it starts a conversation.')
    .version(__HERMES_VERSION__, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: () => undefined,
      outputError: () => undefined,
    })
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError(false)
    .showSuggestionAfterError(false)
}

/** `hermes chat`, the command when none is named. */
export function addChat(program: Command, choose: (action: Action) => void): void {
  program
    .command('chat', { isDefault: true })
    .description('talk to the agent (the default command)')
    .argument('[text...]', 'the same as --query')
    .option('-q, --query <text>', 'ask once, print the answer on stdout and exit; piped input is added as context')
    .option('-r, --resume <session>', 'resume a session: id, title, unique start of an id, or latest')
    .option('-c, --continue', 'resume the newest session of this folder or its repository')
    .option('--any', 'with -c: the newest session of any folder')
    .option('-m, --model <id>', 'model to use')
    .option('--provider <name>', 'provider to use')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('-t, --toolsets <names>', 'comma-separated toolsets the agent gets')
    .option('--max-turns <n>', 'model calls (steps) of a turn before it has to summarise', Number)
    .addOption(
      new Option('--reasoning <effort>', 'how much the model thinks, kept with the session').choices([
        'minimal',
        'low',
        'medium',
        'high',
        'default',
      ]),
    )
    .option('--plan', 'look and plan only, change nothing')
    .option('--accept', 'with -c or -r: carry out the plan that was made')
    .option('--yolo', 'do not ask before dangerous commands (a hard floor stays)')
    .option('--json', 'print every event as one JSON line on stdout')
    .option('--record <file>', 'write the model traffic to a file')
    .option('--replay <file>', 'answer from such a file instead of a model')
    .action((words: readonly string[], options) =>
      choose(async (world) => (await import('../commands/chat.js')).chat(world, options, words)),
    )
}
