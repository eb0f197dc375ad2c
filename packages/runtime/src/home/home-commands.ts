import { getConfigValue, homeLayout, setConfigValue, writtenConfig } from '@hermes/config'
import { HermesError, isJsonObject } from '@hermes/contracts'
import type { Command, CommandOutput, Extension } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import { HERMES_VERSION } from '../version.js'

const say = (text: string): CommandOutput => ({ type: 'text', text })
const property = (description: string) => ({ type: 'string', description })

/** Adds `/version` and `/config`: the home, seen from a session. */
export function homeCommands(runtime: () => Runtime, { home }: { readonly home: string }): Extension {
  return {
    name: 'home-commands',
    setup(api) {
      for (const command of [version(), config(runtime, home)]) api.commands.add(command)
    },
  }
}

function version(): Command {
  return {
    name: 'version',
    aliases: ['v'],
    summary: 'the version of Hermes and what it runs on',
    duringRun: 'allowed',
    scope: 'anyone',
    needsSession: false,
    run: () => say(`Hermes ${HERMES_VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}`),
  }
}

function config(runtime: () => Runtime, home: string): Command {
  return {
    name: 'config',
    usage: '[KEY [VALUE]]',
    summary: 'show or change values of config.yaml',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: { key: property('a key such as agent.max_turns'), value: property('its new value') },
    },
    complete: (words) => (words.length === 0 ? keysOf(runtime().config) : []),
    run: async ({ key, value }) => {
      if (key === undefined) return written(home)
      if (SECRET.test(key as string))
        throw new HermesError(
          `${key} may hold a key. Set it where nobody reads along: hermes config set, or hermes auth add`,
          {
            code: 'command.usage',
          },
        )
      if (value !== undefined) {
        await setConfigValue({ home, key: key as string, value: value as string })
        return say(`${key} = ${value}. It counts when Hermes is started again.`)
      }
      const now = getConfigValue(runtime().config, key as string)
      if (now !== undefined) return say(`${key} = ${shown(now)}`)
      throw new HermesError(`config.yaml has no value for ${key}. /config shows what is set.`, {
        code: 'command.usage',
      })
    },
  }
}

/** The keys below `value` that have no others below them. */
function keysOf(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, item]) =>
    isJsonObject(item) ? keysOf(item).map((below) => `${name}.${below}`) : [name],
  )
}

const SECRET = /(?:^|[._-])(?:key|api[_-]?key|token|secret|password|headers|env|url)(?:$|\.)/i

function shown(value: unknown): string {
  return JSON.stringify(value, (key, item) => (key !== '' && SECRET.test(key) && item !== '' ? '[hidden]' : item))
}

async function written(home: string): Promise<CommandOutput> {
  const { value, fault } = await writtenConfig(home)
  if (fault !== null) throw new HermesError(fault, { code: 'command.usage' })
  const sections = isJsonObject(value) ? Object.entries(value) : []
  return {
    type: 'table',
    rows: sections.map(([name, item]) => ({ cells: [name, SECRET.test(name) ? '[hidden]' : shown(item)] })),
    empty: `Nothing is set: defaults count. The file would be ${homeLayout(home).config}`,
  }
}
