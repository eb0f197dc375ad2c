import type { Command } from 'commander'
import type { Action } from '../io.js'

/** `hermes pairing …`, and `hermes send`. */
export function addPairing(program: Command, choose: (action: Action) => void): void {
  program
    .command('send <target> <text...>')
    .description('send a message to a chat, through the gateway: telegram:CHAT or telegram:CHAT:TOPIC')
    .option('--wait <seconds>', 'how long to wait until it is sent', Number, 10)
    .action((target: string, words: readonly string[], options) =>
      choose(async (world) => (await import('../commands/send.js')).send(world, target, words.join(' '), options)),
    )
  const pairing = program.command('pairing').description('who may talk to the agent in chats: see, let in, send away')
  const load = () => import('../commands/pairing.js')
  pairing
    .command('list', { isDefault: true })
    .description('who waits with a code, and who was let in')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).listPairings(world, options)))
  pairing
    .command('approve <platform> <code>')
    .description('let in the person who got this code')
    .action((platform, code) => choose(async (world) => (await load()).approvePairing(world, platform, code)))
  pairing
    .command('revoke <platform> <user>')
    .description('send a person away who was let in, by their id')
    .action((platform, user) => choose(async (world) => (await load()).revokePairing(world, platform, user)))
  pairing
    .command('alias <platform> <user> <person>')
    .description(
      'say who an id is: a name of people, owner for yourself; `key` as the platform takes the sha256 of an API key',
    )
    .action((platform, user, person) =>
      choose(async (world) => (await load()).aliasPairing(world, platform, user, person)),
    )
  pairing
    .command('clear-pending <platform>')
    .description('make all codes that wait good for nothing')
    .action((platform) => choose(async (world) => (await load()).clearPairings(world, platform)))
}
