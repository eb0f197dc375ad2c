import { defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { bundledNames } from '../bundled.js'
import { SKILL_FILE, type Skill } from '../format/skill.js'
import { cutTo, roomFor, shareOf } from '../learning/skill-share.js'
import { type LoadedSkill, loadSkill, loadSkillFile } from '../load-skill.js'
import type { SkillLibrary } from '../skill-library.js'

const parameters = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    file_path: { type: 'string', description: 'One of its files' },
  },
  required: ['name'],
} as const

/** Shows a skill to the model, as it is now. */
export const skillViewTool = (library: SkillLibrary) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'skill_view',
    toolset: 'skills',
    description: 'Load a skill, or a file of it.',
    describe: () => `Load a skill, or a file of it. Built in, by group: ${bundledNames(library.disabled)}.`,
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    icon: '📘',
    summarize: ({ name, file_path: path }) => (path === undefined ? name : `${name}: ${path}`),
    async execute({ name, file_path: path }, { state, environment }) {
      const cwd = environment.root ?? environment.cwd()
      let index = await library.ofSession(state, cwd)
      // One that came since may be meant: it was just written, or a person speaks of it.
      if (!index.skills.has(name)) index = await library.index(cwd)
      const skill = library.require(index, name)
      const loaded = path === undefined ? await loadSkill(skill, library) : null
      const shown =
        loaded === null
          ? await loadSkillFile(skill, path!, library)
          : { ...loaded, text: shownSkill(skill, loaded, library.home) }
      const room = roomFor(shareOf(state, library.records), skill.name, shown.text.length)
      if (loaded !== null) library.usage.note(skill.name, library.home.clock.now())
      return toResult({ ...shown, text: cutTo(room, shown.text, { name: skill.name, path: path ?? SKILL_FILE }) })
    },
  })

function toResult({ text, sources, notes }: Pick<LoadedSkill, 'text' | 'sources' | 'notes'>): ToolResult {
  const whole = [...notes, text].join('\n\n')
  return sources === null ? whole : { text: whole, external: true, sources }
}

/** A skill as a model reads it: what is missing for it, what it says, what lies beside it. */
export function shownSkill(
  { name, source, variables, tools, capabilities }: Skill,
  { text, folder, files }: LoadedSkill,
  { hasVariable }: { hasVariable(variable: string): boolean },
): string {
  const missing = variables.filter((variable) => !hasVariable(variable))
  return [
    `# Skill: ${name} (${source})`,
    ...(missing.length > 0 ? [`Not set up: the user has to set ${missing.join(', ')} in .env first.`] : []),
    ...(tools.length > 0 ? [`Needs the tools: ${tools.join(', ')}.`] : []),
    ...(source !== 'user' && source !== 'bundled'
      ? [
          `It says that it uses: ${capabilities.length === 0 ? 'nothing but what you do for it' : capabilities.join(', ')}.`,
        ]
      : []),
    text.trim(),
    ...(files.length > 0 ? [`Files in ${folder} (skill_view with file_path): ${files.join(', ')}`] : []),
  ].join('\n\n')
}
