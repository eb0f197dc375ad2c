import type { Command } from '@hermes/contracts/extension'
import type { SkillsCommandParts } from './skills-command.js'
import { VERBS } from './verbs.js'

/** `/skills`, which `hermes skills` is too; what it does loads on its first use. `refresh`: commands by skills, which it may have changed. */
export function skillsCommand(parts: SkillsCommandParts, refresh: () => Promise<unknown>): Command {
  return {
    name: 'skills',
    summary: 'skills: list, write, install, answer what waits',
    usage: '[inspect|edit|delete NAME | create NAME WORDS | install SOURCE | pending | approve|reject|diff ID]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: PARAMETERS,
    complete: async (words, { cwd }) =>
      words.length === 0 ? VERBS : words.length === 1 ? [...(await parts.library.index(cwd)).skills.keys()] : [],
    run: async (args, context) => {
      const { runSkillsCommand } = await import('./skills-command.js')
      try {
        return await runSkillsCommand(args, context, parts)
      } finally {
        await refresh()
      }
    },
  }
}

const PARAMETERS = {
  type: 'object',
  properties: {
    // First, so that all that is typed is words; the others are options of `hermes skills`.
    words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
    description: { type: 'string', description: 'what a new skill is for' },
    file: { type: 'string', description: 'a file with what it says' },
    force: {
      type: 'boolean',
      default: false,
      description: 'although there is something like it, or the scanner has found something',
    },
    id: { type: 'string', description: 'how what is fetched is called until it is installed' },
    isAnswered: { type: 'boolean', default: false, description: 'whoever has it fetched asks, or knows the answer' },
    yes: { type: 'boolean', default: false, description: 'publish what was shown' },
    source: { type: 'string', description: 'where to look: github, clawhub, skills.sh or lobehub' },
    page: { type: 'integer', minimum: 1, default: 1, description: 'of what is found' },
  },
} as const
