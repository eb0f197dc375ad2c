import type { JsonObject } from '@hermes/contracts'
import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes checkpoints …`. */
export function addCheckpoints(program: Command, choose: (action: Action) => void): void {
  const checkpoints = program
    .command('checkpoints')
    .description('snapshots of your files, taken before they are changed')
  const rollback = (args: JsonObject, options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'rollback', args, options))
  checkpoints
    .command('status', { isDefault: true })
    .description('which folders have checkpoints, and what they take')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).checkpointsStatus(world, options)))
  checkpoints
    .command('list')
    .description('the checkpoints of this folder, newest first')
    .option('-n, --limit <n>', 'how many', Number, 20)
    .option('--json', 'as JSON lines')
    .action(({ json, limit }) => rollback({ limit }, { json }))
  checkpoints
    .command('diff <checkpoint>')
    .description('which files differ from a checkpoint (number or name)')
    .action((name) => rollback({ words: ['diff', name] }))
  checkpoints
    .command('restore <checkpoint> [paths...]')
    .description(
      'bring files and their conversation back and keep what you edited since; the state before becomes a checkpoint too',
    )
    .option('--all', 'also take back what you edited since')
    .action((name, paths: readonly string[], { all = false }) => rollback({ words: [name, ...paths], all }))
  checkpoints
    .command('prune')
    .description('remove old checkpoints and those of folders that are gone')
    .option('--retention-days <n>', 'how long they are kept', Number)
    .option('--max-size-mb <n>', 'what all of them may take', Number)
    .option('--keep-orphans', 'keep those of folders that are gone')
    .action((options) => choose(async (world) => (await load()).checkpointsPrune(world, options)))
  checkpoints
    .command('clear')
    .description('remove all checkpoints of all folders; asks first')
    .option('-f, --force', 'do not ask')
    .option('-y, --yes', 'do not ask')
    .action((options) => choose(async (world) => (await load()).checkpointsClear(world, options)))
}

function load() {
  return import('../commands/checkpoints.js')
}
