import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes prompt …`. */
export function addPrompt(program: Command, choose: (action: Action) => void): void {
  const prompt = program
    .command('prompt')
    .description('show the system prompt and the tools, and compare those of two sessions')
  prompt
    .command('show [session]', { isDefault: true })
    .description('every part of the system text and every tool, with size and source: of a session, else of a new one')
    .option('--text', 'the text itself')
    .option('-m, --model <id>', 'as this model would get it')
    .option('-t, --toolsets <names>', 'with these toolsets, comma-separated')
    .option('--json', 'as JSON')
    .action((session, options) =>
      choose(async (world) => (await import('../commands/prompt.js')).promptShow(world, session, options)),
    )
  prompt
    .command('diff <a> <b>')
    .description('which parts of the prompts of two sessions differ, and why')
    .option('--json', 'as JSON')
    .action((a, b, options) =>
      choose(async (world) => (await import('../commands/prompt-diff.js')).promptDiff(world, [a, b], options)),
    )
}
