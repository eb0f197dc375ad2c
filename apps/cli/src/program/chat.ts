import { Command, Option } from 'commander'
import type { Action, Io } from '../io.js'

declare const __HERMES_VERSION__: string

const EXAMPLES = `
Examples:
  hermes                                 a conversation
  hermes -c                              resumes the newest session of this project
  hermes "What does this project do?"    one answer
  git diff | hermes chat -q review       piped text comes with the question

Options of a conversation, more with hermes chat --help:
`

/** What people look for first; the words are those of `hermes chat`. */
const COMMON = ['--continue', '--resume', '--model', '--query', '--yolo']

/** The program without any command. Its own words about mistakes are held back: `main` has better ones. */
export function createProgram(io: Io): Command {
  return (
    new Command('hermes')
      .description('An AI agent in your terminal. Without a command it starts a conversation.')
      .version(__HERMES_VERSION__, '-V, --version')
      // Taken out of the line before it comes here, see `takeProfileFlag`.
      .option('-p, --profile <name>', 'work in another profile: settings, keys, memories and sessions of its own')
      .exitOverride()
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr: () => undefined,
        outputError: () => undefined,
      })
      .addHelpText('after', ({ command }) => `${EXAMPLES}${commonOptions(command)}`)
      .showHelpAfterError(false)
      .showSuggestionAfterError(false)
  )
}

function commonOptions(program: Command): string {
  const chat = program.commands.find((command) => command.name() === 'chat')
  const options = COMMON.flatMap((long) => chat?.options.filter((option) => option.long === long) ?? [])
  return options.map(({ flags, description }) => `  ${flags.padEnd(37)}  ${description}`).join('\n')
}

/** `hermes chat`, the command when none is named. */
export function addChat(program: Command, choose: (action: Action) => void): void {
  program
    .command('chat', { isDefault: true })
    .description('talk to the agent (the default command)')
    .argument('[text...]', 'the same as --query')
    .option('-q, --query <text>', 'ask once, print the answer on stdout and exit; piped input is added as context')
    .option('-z <text>', 'as -q, and print nothing but the answer: no progress, and no questions')
    .option('--query-file <file>', 'as -q, with the text of a file; - is standard input')
    .option('--batch <file>', 'ask each line of a file in a session of its own; answers go to FILE.answers.jsonl')
    .option('--in <folder>', 'work in this folder')
    .option(
      '-w, --worktree',
      'work in a new worktree of this repository; it goes afterwards where nothing would be lost',
    )
    .option('-r, --resume <session>', 'resume a session: id, title, unique start of an id, or latest')
    .option('-c, --continue', 'resume the newest session of this folder or its repository')
    .option('--any', 'with -c: the newest session of any folder')
    .option('--create-if-missing', 'with -r TITLE: a new session of that title where there is none')
    .option('-m, --model <id>', 'model to use')
    .option('--provider <name>', 'provider to use')
    .option('--account <name>', 'use only this key or login of the provider in the session; "default" ends that')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('-t, --toolsets <names>', 'comma-separated toolsets the agent gets')
    .option('-s, --skills <names>', 'comma-separated skills that the first message brings along')
    .option('--max-turns <n>', 'model calls (steps) of a turn before it has to summarise', Number)
    .option('--run-budget <seconds>', 'seconds by the clock that a run may take before it is ended', Number)
    .option('--max-cost <usd>', 'US dollars that a turn may cost, where config.yaml does not say less', Number)
    .addOption(
      new Option('--reasoning <effort>', 'how much the model thinks, kept with the session').choices([
        'minimal',
        'low',
        'medium',
        'high',
        'default',
      ]),
    )
    .option(
      '--image <file>',
      'send an image (PNG, JPEG, GIF, WebP) with the first message; may be given several times',
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option('--plan', 'look and plan only, change nothing')
    .option('--accept', 'with -c or -r: carry out the plan that was made')
    .option('--yolo', 'do not ask before dangerous commands (a hard floor stays)')
    .option('--trust', 'trust this project with its instructions, hooks, plugins, servers and linters, this time only')
    .option('--accept-hooks', 'run hooks without your consent, this time only')
    .option('--safe-mode', 'without extensions, hooks, MCP servers, instructions of the project and memory')
    .option('--ignore-rules', 'without instructions of the project, SOUL.md and memory')
    .option('--json', 'print every event as one JSON line on stdout')
    .option('--record <file>', 'write the model traffic to a file')
    .option('--replay <file>', 'answer from such a file instead of a model')
    .action((words: readonly string[], options) =>
      choose(async (world) => (await import('../commands/chat.js')).chat(world, options, words)),
    )
}
