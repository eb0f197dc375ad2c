import { expandReferences, type Unset } from '@hermes/config'
import type { JsonObject } from '@hermes/contracts'

/** Servers that plugins bring, ready to be read like those of config.yaml. */
interface BroughtServers {
  readonly servers: Readonly<Record<string, JsonObject>>
  /** Why some are not used, a line each. */
  readonly problems: readonly string[]
}

/** Fills in the variables that servers of plugins name, which the consent names too. One whose variable is not set is left out. */
export function broughtServers(
  brought: Readonly<Record<string, JsonObject>>,
  variables: Readonly<Record<string, string>>,
): BroughtServers {
  const unset: Unset[] = []
  const filled = expandReferences(brought, variables, unset) as Readonly<Record<string, JsonObject>>
  const missing = new Map(unset.map(({ path: [server], name }) => [String(server), name]))
  return {
    servers: Object.fromEntries(Object.entries(filled).filter(([name]) => !missing.has(name))),
    problems: [...missing].map(
      ([server, name]) =>
        `The MCP server ${server} of a plugin is not used: \${${name}} is not set. Put it into .env of the home.`,
    ),
  }
}
