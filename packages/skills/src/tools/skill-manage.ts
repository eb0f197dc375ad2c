import { HermesError } from '@hermes/contracts'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { SKILL_FILE } from '../format/skill.js'
import type { SkillChange } from '../library/skill-changes.js'
import { describeChange, type SkillWriter } from '../library/skill-writer.js'

const parameters = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['create', 'edit', 'patch', 'delete', 'write_file', 'remove_file'] },
    name: { type: 'string', description: 'Lower case letters, digits, dashes' },
    description: { type: 'string', description: 'create, edit: what it does and when to use it, one or two sentences' },
    content: {
      type: 'string',
      description:
        'create, edit: Markdown. When to use it and when not, numbered steps with commands, pitfalls, how to check the result',
    },
    old_string: { type: 'string', description: 'patch' },
    new_string: { type: 'string', description: 'patch' },
    replace_all: { type: 'boolean', default: false },
    file_path: { type: 'string', description: 'patch, write_file, remove_file: references/x.md, scripts/x.sh, …' },
    file_content: { type: 'string', description: 'write_file' },
    force: { type: 'boolean', default: false, description: 'create: although there is something like it' },
  },
  required: ['action', 'name'],
} as const

type Args = FromSchema<typeof parameters>

/** Lets the model write skills of the user's own. */
export const skillManageTool = (writer: SkillWriter) =>
  defineTool<Args>({
    name: 'skill_manage',
    toolset: 'skills',
    description:
      'Save, change or delete a skill of the user. Save a way that took effort and worked, once the user agrees; not what is easy or one-off. Patch one that misled you.',
    parameters,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '📝',
    summarize: ({ action, name, file_path: path }) => `${action} ${name}${path === undefined ? '' : ` ${path}`}`,
    async execute(args, { environment, sessionId, isTainted = false, taintedBy = [] }) {
      const change = toChange(args)
      const cwd = environment.root ?? environment.cwd()
      const outside = isTainted && taintedBy.length === 0 ? ['text from outside'] : taintedBy
      const outcome = await writer.request(change, { cwd, sessionId, taintedBy: outside })
      if (outcome.type === 'staged')
        return `Not written yet: it waits for the user's yes as ${outcome.staged.id} (${outcome.staged.why}). They see it with /skills diff ${outcome.staged.id} and answer with /skills approve ${outcome.staged.id}, or hermes skills approve ${outcome.staged.id}.`
      const { planned, kept } = outcome
      return `Done: ${describeChange(change)}.${kept === null ? ` ${planned.file}` : ` A copy is kept in ${kept}`}`
    },
  })

function toChange(args: Args): SkillChange {
  const { action, name } = args
  switch (action) {
    case 'create':
      return {
        ...{ action, name, force: args.force },
        description: needed(args, 'description'),
        content: needed(args, 'content'),
      }
    case 'edit':
      return {
        ...{ action, name, content: needed(args, 'content') },
        ...(args.description === undefined ? {} : { description: args.description }),
      }
    case 'patch':
      return {
        ...{ action, name, path: args.file_path ?? SKILL_FILE, replaceAll: args.replace_all },
        oldText: needed(args, 'old_string'),
        newText: args.new_string ?? '',
      }
    case 'delete':
      return { action, name }
    case 'write_file':
      return { action, name, path: needed(args, 'file_path'), content: needed(args, 'file_content') }
    case 'remove_file':
      return { action, name, path: needed(args, 'file_path') }
    default:
      return action satisfies never
  }
}

function needed(args: Args, key: 'description' | 'content' | 'old_string' | 'file_path' | 'file_content'): string {
  const value = args[key]
  if (value !== undefined && value !== '') return value
  throw new HermesError(`${args.action} needs ${key}.`, { code: 'skills.bad_skill' })
}
