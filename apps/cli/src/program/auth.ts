import { type Command, Option } from 'commander'
import type { Action } from '../io.js'

/** `hermes auth …`. */
export function addAuth(program: Command, choose: (action: Action) => void): void {
  const auth = program.command('auth').description('add, list and remove keys and logins of model providers')
  auth
    .command('list', { isDefault: true })
    .description('every key and login, and whether it can be used')
    .argument('[provider]', 'only those of this one')
    .option('--json', 'as JSON lines')
    .action((provider, options) =>
      choose(async (world) => (await import('../commands/auth.js')).authList(world, provider, options)),
    )
  auth
    .command('add')
    .description('keep a key (asked for, not shown) or log in')
    .argument('[provider]', 'a provider, or an endpoint of config.yaml')
    .option('--key-stdin', 'read the key from standard input')
    .option('--oauth', 'log in instead, with the client that config.yaml names')
    .addOption(new Option('--flow <how>', 'log in with a code, or in a browser here').choices(['device', 'browser']))
    .option('--label <name>', 'what to call it')
    .option('--priority <n>', '0 is used first; default: after all others', Number)
    .action((provider, options) =>
      choose(async (world) => (await import('../commands/auth-add.js')).authAdd(world, provider, options)),
    )
  auth
    .command('remove <provider> <credential>')
    .description('forget a key or login: id, label or place in the list')
    .action((provider, name) =>
      choose(async (world) => (await import('../commands/auth.js')).authRemove(world, provider, name)),
    )
  auth
    .command('reset')
    .description('use keys again that are cooling down or were refused')
    .argument('<provider>')
    .argument('[credential]', 'id, label or place in the list; default: all')
    .action((provider, name) =>
      choose(async (world) => (await import('../commands/auth.js')).authReset(world, provider, name)),
    )
  auth
    .command('priority <provider> <credential> <n>')
    .description('its place in the order of use: 0 first')
    .action((provider, name, place) =>
      choose(async (world) => (await import('../commands/auth.js')).authPriority(world, provider, name, place)),
    )
  auth
    .command('use <provider> <credential>')
    .description('have a key or login used first, from the next request on, in sessions that are open too')
    .option(
      '--project [folder]',
      'use only this account for sessions in FOLDER and below it (default: this folder); "default" as CREDENTIAL ends that',
    )
    .action((provider, name, options) =>
      choose(async (world) => (await import('../commands/auth.js')).authUse(world, provider, name, options)),
    )
  auth
    .command('refresh <provider> <credential>')
    .description('renew a login now')
    .action((provider, name) =>
      choose(async (world) => (await import('../commands/auth.js')).authRefresh(world, provider, name)),
    )
  auth
    .command('status')
    .description('whether providers can be used now')
    .argument('[provider]', 'only this one')
    .option('--json', 'as JSON lines')
    .action((provider, options) =>
      choose(async (world) => (await import('../commands/auth.js')).authStatus(world, provider, options)),
    )
}
