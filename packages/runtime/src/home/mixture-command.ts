import type { HermesConfig } from '@hermes/config'
import { HermesError, isJsonObject } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { MIXTURE } from '../models/mixtures.js'

/** Adds `/moa`: has several models asked in a session, one of which answers. */
export function mixtureCommand({ moa }: Pick<HermesConfig, 'moa'>): Extension {
  const names = Object.keys(moa.presets)
  return {
    name: 'mixture-command',
    setup(api) {
      api.commands.add({
        name: 'moa',
        usage: '[PRESET]',
        summary: 'mixtures of models: list them, or have one answer from here on',
        parameters: {
          type: 'object',
          properties: { preset: { type: 'string', description: 'a mixture; hermes moa list shows them' } },
        },
        complete: () => names,
        run: async ({ preset }, { session }) => {
          if (preset === undefined) return list(moa.presets, session?.provider === MIXTURE ? session.model : null)
          if (session === null) throw new HermesError('There is no session here yet.', { code: 'command.usage' })
          await session.changeModel({ provider: MIXTURE, model: preset as string, force: false })
          return { type: 'text', text: `Now the mixture ${preset as string} answers, in the same shell.` }
        },
      })
    },
  }
}

function list(presets: HermesConfig['moa']['presets'], current: string | null) {
  const rows = Object.entries(presets).map(([name, preset]) => {
    const models = isJsonObject(preset) ? preset['reference_models'] : null
    const count = Array.isArray(models) ? models.length : 0
    return { cells: [name, `${count} models are asked`], isCurrent: name === current }
  })
  return { type: 'table', rows, empty: 'There are no mixtures. Make one: hermes moa add NAME' } as const
}
