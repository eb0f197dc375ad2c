import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes backup …`. */
export function addBackup(program: Command, choose: (action: Action) => void): void {
  const backup = program
    .command('backup')
    .description(
      'copy the sessions, check copies, go back to one; one is made every day, except of PostgreSQL (pg_dump)',
    )
  const load = () => import('../commands/backup.js')
  backup
    .command('create')
    .description('copy the sessions now, also while hermes is running')
    .action(() => choose(async (world) => (await load()).createBackup(world)))
  backup
    .command('list', { isDefault: true })
    .description('the copies there are, newest first')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).listBackups(world, options)))
  backup
    .command('verify [name]')
    .description('read all of a copy and say whether it is sound; the newest when none is named')
    .action((name) => choose(async (world) => (await load()).verifyBackup(world, name)))
  backup
    .command('restore [name]')
    .description('go back to a copy, the newest when none is named; what is there now is kept')
    .option('-y, --yes', 'do not ask')
    .action((name, options) => choose(async (world) => (await load()).restoreBackup(world, name, options)))
  backup
    .command('recover')
    .description('save what can be read of damaged sessions into a new file')
    .action(() => choose(async (world) => (await load()).recoverSessions(world)))
}
