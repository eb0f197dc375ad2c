import type { Extension } from '@hermes/contracts/extension'
import type { HomePlugins } from '../open-plugins.js'
import { pluginFindings } from './findings.js'
import { VERBS } from './verbs.js'

/** Adds `/plugins`, and a look at each of them to `hermes doctor`. */
export function pluginsExtension({ host, loaded, problems }: HomePlugins): Extension {
  return {
    name: 'plugins',
    setup(api) {
      api.commands.add({
        name: 'plugins',
        summary: 'extensions of others: list, install, enable, update, create',
        usage: '[install SOURCE | enable|disable|update|uninstall NAME]',
        duringRun: 'allowed',
        needsSession: false,
        parameters: {
          type: 'object',
          properties: {
            // First, so that all that is typed is words; the kind is an option of `hermes plugins`.
            words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
            enable: { type: 'boolean', default: false, description: 'agree to it at once' },
            kind: { type: 'string', description: 'what is created: tool, memory, hook, provider or platform' },
          },
        },
        complete: (words) =>
          words.length === 0 ? VERBS : words.length === 1 ? loaded.map(({ entry }) => entry.name) : [],
        run: async (args, context) => {
          const { runPluginsCommand } = await import('./plugins-command.js')
          return runPluginsCommand(args, context, { host, loaded, problems })
        },
      })
      api.doctor.check({ name: 'plugins', run: () => pluginFindings({ host, loaded, problems }) })
    },
  }
}
