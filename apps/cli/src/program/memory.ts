import type { Command } from 'commander'
import type { Action } from '../action.js'

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
    .description('remember something')
    .option(...user)
    .action((text, options) => choose(async (world) => (await load()).memoryAdd(world, text, options)))
  memory
    .command('edit <words> <text>')
    .description('replace the entry that has these words')
    .option(...user)
    .action((words, text, options) => choose(async (world) => (await load()).memoryEdit(world, words, text, options)))
  memory
    .command('remove <words>')
    .description('forget the entry that has these words')
    .option(...user)
    .action((words, options) => choose(async (world) => (await load()).memoryRemove(world, words, options)))
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
}
