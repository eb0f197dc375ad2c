import { homeLayout } from '@hermes/config'
import { skillsInCommand } from '@hermes/safety'
import { type LocalEnvironmentOptions, looksSecret } from '@hermes/sandbox'
import { skillPrograms } from '@hermes/skills'
import type { EnvironmentRequest } from '../environment/environment-request.js'

type Held = Pick<
  EnvironmentRequest,
  'home' | 'cwd' | 'person' | 'config' | 'env' | 'secrets' | 'secretNames' | 'skills'
>

/**
 * Holds commands and programs of the agent that run programs of skills of others to what those declared. One sees the skills that it names, and
 * those of the workspace, and no others: one that hides where it goes finds nothing there. Where nothing is isolated, one that may run a program
 * of a skill gets no keys either.
 */
export function holdSkillPrograms(
  request: Held,
  { isIsolated }: { readonly isIsolated: boolean },
): NonNullable<LocalEnvironmentOptions['holds']> {
  const { home, person = null, config, secretNames } = request
  return async (command, cwd) => {
    const skills = await (request.skills?.(request.cwd, { command, cwd }) ?? skillPrograms(homeLayout(home).skills))
    const { named, acting } = skillsInCommand(command, { cwd, skills, isHeld: isIsolated })
    if (named.length === 0) return null
    const readable = person === null ? named.filter(({ isOpen }) => !isOpen).map(({ folder }) => folder) : []
    if (acting === null) return { readable, network: true, variables: null }
    const isKey = (name: string, value: string) =>
      config.terminal.env_passthrough.includes(name) || secretNames.includes(name) || looksSecret(name, value)
    const mayHaveKeys = acting.capabilities.includes('secrets') && person === null
    const added = mayHaveKeys ? valuesOf(acting.variables, request) : {}
    return { readable, network: acting.capabilities.includes('network'), variables: { withholds: isKey, added } }
  }
}

function valuesOf(names: readonly string[], { secrets, env }: Held): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = secrets[name] ?? env[name]
      return value === undefined || value === '' ? [] : [[name, value] as const]
    }),
  )
}
