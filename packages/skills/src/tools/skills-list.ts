import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { SkillLibrary } from '../skill-library.js'

const MAX_DESCRIPTION = 200

const parameters = {
  type: 'object',
  properties: { query: { type: 'string', description: 'Words of name, group or description; default all' } },
} as const

/** Lists skills for the model. */
export const skillsListTool = (library: SkillLibrary) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'skills_list',
    toolset: 'skills',
    description: 'List skills with what each is for: those of the user, the project, installed ones, built-in ones.',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    icon: '📚',
    async execute({ query = '' }, { state, environment }) {
      const { skills } = await library.ofSession(state, environment.root ?? environment.cwd())
      const words = query.toLowerCase().split(/\s+/).filter(Boolean)
      const found = [...skills.values()].filter(({ name, group, description }) => {
        const text = `${name} ${group} ${description}`.toLowerCase()
        return words.every((word) => text.includes(word))
      })
      if (found.length === 0)
        return `No skill${words.length > 0 ? ` has ${query}; without a query all are listed` : ''}.`
      const own = found.filter(({ source }) => source === 'user' || source === 'bundled')
      const others = found.filter((skill) => !own.includes(skill))
      const text = [...own, ...others]
        .map(
          ({ name, source, group, description }) =>
            `${name} (${source}, ${group}): ${description.slice(0, MAX_DESCRIPTION)}`,
        )
        .join('\n')
      const data = found.map(({ name, source, group, description }) => ({ name, source, group, description }))
      if (others.length === 0) return { data, text }
      const sources = others.map(({ folder, source, origin, name }) =>
        source === 'installed' || source === 'plugin'
          ? ({ type: 'web', name: `the skill ${name} from ${origin}` } as const)
          : ({ type: 'file', path: folder! } as const),
      )
      return { data, text, external: true, sources }
    },
  })
