import { type HermesConfig, homeLayout } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput, CommandRow, Extension } from '@hermes/contracts/extension'
import type { CredentialInfo, CredentialStore } from '@hermes/credential-pool'
import { poolStrategy } from '../models/credentials.js'
import { poolName } from '../models/model-choice.js'

/** Adds `/account`: which key or login of a provider is used first, in this home and from the next request on. */
export function accountCommand({ home, config }: { readonly home: string; readonly config: HermesConfig }): Extension {
  return {
    name: 'account',
    setup(api) {
      api.commands.add(
        command(config, async () => {
          const { openCredentialStore } = await import('@hermes/credential-pool')
          return openCredentialStore({ path: homeLayout(home).auth })
        }),
      )
    },
  }
}

function command(config: HermesConfig, open: () => Promise<CredentialStore>): Command {
  const providerOf = ({ session }: CommandContext, named: unknown) => {
    const provider = (named as string | undefined) ?? session?.provider
    if (provider !== undefined) return poolName(provider)
    throw new HermesError('Which provider? hermes auth use PROVIDER NAME', { code: 'command.usage' })
  }
  return {
    name: 'account',
    usage: '[NAME [PROVIDER]]',
    summary: 'keys and logins: list them, or have one used first',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'the label, id or place of one' },
        provider: { type: 'string', description: 'a provider; default: that of the session' },
      },
    },
    complete: async (words, context) =>
      words.length > 0 ? [] : (await (await open()).list(providerOf(context, undefined))).map(({ label }) => label),
    run: async ({ name, provider }, context) => {
      const store = await open()
      if (name === undefined) return list(store)
      const pool = providerOf(context, provider)
      const [first] = await store.prioritize(pool, name as string, 0)
      return { type: 'text', text: usedFirst(first!, pool, poolStrategy(config, pool)) }
    },
  }
}

/** What it means that one is the first now. */
function usedFirst({ label, state }: CredentialInfo, provider: string, strategy: string): string {
  const now = `${label} of ${provider} is used first, from the next request on.`
  if (state.type !== 'ready') return `${now} It cannot be used now: hermes auth list ${provider} says why.`
  if (strategy === 'fill-first') return now
  return `${now} credential_pool_strategies has ${strategy} for ${provider}: others are used in between.`
}

async function list(store: CredentialStore): Promise<CommandOutput> {
  const providers = await store.providers()
  const rows = await Promise.all(
    providers.map(async (provider) =>
      (await store.list(provider)).map((one, index) => row(provider, one, index === 0)),
    ),
  )
  return { type: 'table', rows: rows.flat(), empty: 'There are no keys or logins. Add one: hermes auth add PROVIDER' }
}

function row(provider: string, { label, type, state, hint }: CredentialInfo, isFirst: boolean): CommandRow {
  const end = hint === '' ? '' : `…${hint}`
  const data = { provider, label, type, state: state.type, isFirst }
  return { cells: [provider, label, type, end, state.type], isCurrent: isFirst, isDim: state.type !== 'ready', data }
}
