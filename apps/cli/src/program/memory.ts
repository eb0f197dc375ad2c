import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes memory …`. */
export function addMemory(program: Command, choose: (action: Action) => void): void {
  const memory = program.command('memory').description('read and change what is remembered across sessions')
  const load = () => import('../commands/memory.js')
  const user = ['--user', 'what is known about you, instead of the notes of the agent'] as const
  memory
    .command('list', { isDefault: true })
    .description('what is remembered, and how full the stores are')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await load()).memoryList(world, options)))
  memory
    .command('add <text>')
    .description('remember a fact; what is worded as an order is not kept')
    .option(...user)
    .action((text, options) => choose(async (world) => (await load()).memoryAdd(world, text, options)))
  memory
    .command('edit [words] [text]')
    .description('replace the entry that has these words; without them all is opened in $EDITOR')
    .option(...user)
    .action((words, text, options) => choose(async (world) => (await load()).memoryEdit(world, words, text, options)))
  memory
    .command('remove <words>')
    .description('forget the entry that has these words')
    .option(...user)
    .action((words, options) => choose(async (world) => (await load()).memoryRemove(world, words, options)))
  memory
    .command('confirm [words]')
    .description('take notes as yours that came about after text from outside was read; without words each is shown')
    .option('--yes', 'without a question')
    .action((words, options) => choose(async (world) => (await load()).memoryConfirm(world, words, options)))
  memory
    .command('undo')
    .description('take the newest change back, whoever made it')
    .action(() => choose(async (world) => (await load()).memoryUndo(world)))
  memory
    .command('export')
    .description('print everything as JSON')
    .action(() => choose(async (world) => (await load()).memoryExport(world)))
  memory
    .command('import <file>')
    .description('add what an export holds')
    .action((file) => choose(async (world) => (await load()).memoryImport(world, file)))
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'memory', { words }, options))
  memory
    .command('pending')
    .description('notes of agents that wait for your yes')
    .option('--json', 'as JSON lines')
    .action((options) => call(['pending'], options))
  for (const [verb, description] of ANSWERS)
    memory
      .command(`${verb} <id...>`)
      .description(description)
      .action((ids: readonly string[]) => call([verb, ...ids]))
  const provider = () => import('../commands/memory-provider.js')
  memory
    .command('status')
    .description('how full the stores are, and whether the provider can be used')
    .option('--offline', 'do not ask the provider')
    .action((options) => choose(async (world) => (await provider()).memoryStatus(world, options)))
  memory
    .command('setup <provider>')
    .description('remember in a provider too: honcho, mem0, supermemory, local')
    .option('--base-url <url>', 'a server of your own')
    .option('--user-id <name>', 'whose memories they are')
    .option('--embedding-url <url>', 'local: the endpoint for embeddings, as OpenAI has it')
    .option('--embedding-model <id>', 'local: the model for embeddings')
    .action((name, options) => choose(async (world) => (await provider()).memorySetup(world, name, options)))
  memory
    .command('off')
    .description('use no provider any more')
    .action(() => choose(async (world) => (await provider()).memoryOff(world)))
}

const ANSWERS = [
  ['approve', 'remember a note that waits; all means each of them'],
  ['reject', 'forget a note that waits'],
  ['diff', 'show a note that waits'],
] as const

/** `hermes learning …`. */
export function addLearning(program: Command, choose: (action: Action) => void): void {
  const learning = program.command('learning').description('failures that were met before, and what helped')
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'learning', { words }, options))
  learning
    .command('list [words...]', { isDefault: true })
    .description('what is kept, the most used first; with words, what is about them')
    .option('--json', 'as JSON lines')
    .action((words: readonly string[], options) => call(['list', ...words], options))
  learning
    .command('edit <id> <text...>')
    .description('say what helps in your own words; what is seen later does not change them')
    .action((id: string, text: readonly string[]) => call(['edit', id, ...text]))
  learning
    .command('remove <id>')
    .description('forget one')
    .action((id: string) => call(['remove', id]))
}
