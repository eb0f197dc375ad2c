import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes vault …`. */
export function addVault(program: Command, choose: (action: Action) => void): void {
  const vault = program.command('vault').description('logins that the browser fills in and no model sees')
  const load = () => import('../commands/vault.js')
  vault
    .command('list', { isDefault: true })
    .description('names, sites and users')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).vaultList(world, options)))
  vault
    .command('add <name>')
    .description('keep a login for one site; the password is typed unseen, or piped in')
    .requiredOption('--site <address>', 'the only site it may be filled in at, such as https://example.com')
    .requiredOption('--user <user>', 'name or mail address at the site')
    .option('--codes', 'also keep what its one-time codes are made of')
    .option('--password-stdin', 'read the password from standard input')
    .action((name, options) => choose(async (world) => (await load()).vaultAdd(world, name, options)))
  vault
    .command('remove <name>')
    .description('forget a login')
    .action((name) => choose(async (world) => (await load()).vaultRemove(world, name)))
}
