import { HermesError } from '@hermes/contracts'
import type { CommandResult, ExtensionApi } from '@hermes/contracts/extension'
import type { Vault } from '../vault/vault.js'

/** Adds `/vault`: what may be said of the logins here. They are added and removed with `hermes vault`, where a password is typed unseen. */
export function vaultCommand(api: ExtensionApi, vault: Vault): void {
  api.commands.add({
    name: 'vault',
    summary: 'the logins that the browser may fill in',
    usage: '[list]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: { words: { type: 'array', items: { type: 'string' }, default: [], description: 'list' } },
    },
    complete: (words) => (words.length === 0 ? ['list'] : []),
    async run(args): Promise<CommandResult> {
      const [verb = 'list'] = args['words'] as readonly string[]
      if (verb !== 'list')
        throw new HermesError(
          `There is no "/vault ${verb}" here. Logins are added and removed with: hermes vault add NAME, hermes vault remove NAME`,
          {
            code: 'command.usage',
          },
        )
      if (!(await vault.exists()))
        return { type: 'text', text: 'There is no vault yet. Make one with: hermes vault add NAME' }
      if (!vault.isOpen)
        return {
          type: 'text',
          text: 'The vault is locked. hermes vault list shows it; the browser asks for its passphrase when a login is to be filled in.',
        }
      const rows = (await vault.list()).map(({ name, origin, user, hasCodes }) => ({
        cells: [name, user, origin, hasCodes ? 'makes codes' : ''],
        data: { name, user, origin, makesCodes: hasCodes },
      }))
      return { type: 'table', rows, empty: 'The vault is empty.' }
    },
  })
}
