// `/bundles`, which `hermes bundles` is too; and each bundle as a command of its own name.
import { HermesError, type JsonObject, nearestName } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { useLine } from '../attach-skills.js'
import type { Bundle, BundleStore } from '../bundles/bundle-store.js'
import type { SkillLibrary } from '../skill-library.js'

const VERBS = ['list', 'show', 'create', 'delete', 'reload'] as const

/** What the command works on. */
interface BundleParts {
  readonly library: SkillLibrary
  readonly bundles: BundleStore
  /** Has commands of bundles come and go. */
  refresh(): Promise<unknown>
}

/** `/bundles [list | show NAME | create NAME SKILL… | delete NAME]`. */
export function bundlesCommand(parts: BundleParts): Command {
  return {
    name: 'bundles',
    summary: 'several skills under one command',
    usage: '[list | show NAME | create NAME SKILL… | delete NAME | reload]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
        description: { type: 'string', default: '', description: 'what it is for' },
        instruction: { type: 'string', default: '', description: 'said with its skills each time' },
        force: { type: 'boolean', default: false, description: 'although there is one of that name' },
      },
    },
    complete: async (words, { cwd }) => {
      if (words.length === 0) return VERBS
      if (words[0] === 'create') return words.length === 1 ? [] : [...(await parts.library.index(cwd)).skills.keys()]
      return (await parts.bundles.list()).bundles.map(({ name }) => name)
    },
    run: async (args, context) => {
      try {
        return await run(args, context, parts)
      } finally {
        await parts.refresh()
      }
    },
  }
}

async function run(
  args: JsonObject,
  context: CommandContext,
  { library, bundles }: BundleParts,
): Promise<CommandResult> {
  const [verb = 'list', ...words] = args['words'] as readonly string[]
  switch (verb) {
    case 'list':
    case 'reload':
      return list(bundles)
    case 'show': {
      const { name, description, skills, instruction } = await bundles.named(one(verb, words))
      const missing = await notThere(skills, context.cwd, library)
      const lines = [name, description, `skills: ${skills.join(', ')}`, ...(instruction === '' ? [] : [instruction])]
      return [
        say(lines.filter((line) => line !== '').join('\n')),
        ...(missing.length === 0 ? [] : [problem(`Not there now: ${missing.join(', ')}`)]),
      ]
    }
    case 'create': {
      const [name, ...skills] = words
      if (name === undefined || skills.length === 0) throw usage('Use: hermes bundles create NAME SKILL…')
      const missing = await notThere(skills, context.cwd, library)
      if (missing.length > 0) library.require(await library.index(context.cwd), missing[0]!)
      const [description, instruction] = [String(args['description']), String(args['instruction'])]
      await bundles.create({ name, description, skills, instruction }, { isForced: args['force'] === true })
      return say(`Made the bundle ${name}: /${name} brings ${skills.join(', ')} along.`)
    }
    case 'delete':
      await bundles.delete(one(verb, words))
      return say(`Deleted the bundle ${words[0]}; its skills stay.`)
    default: {
      const near = nearestName(verb, VERBS)
      throw usage(
        `There is no "bundles ${verb.slice(0, 40)}". ${near ? `Did you mean ${near}?` : `It can be ${VERBS.join(', ')}.`}`,
      )
    }
  }
}

async function list(store: BundleStore): Promise<CommandResult> {
  const { bundles, problems } = await store.list()
  const rows = bundles.map((bundle) => ({
    cells: [`/${bundle.name}`, bundle.skills.join(', '), bundle.description],
    data: bundle,
  }))
  const table = {
    type: 'table',
    rows,
    empty: 'There are no bundles. To make one: hermes bundles create NAME SKILL…',
  } as const
  return problems.length === 0 ? table : [table, problem(problems.join('\n'))]
}

async function notThere(names: readonly string[], cwd: string, library: SkillLibrary): Promise<readonly string[]> {
  const { skills } = await library.index(cwd)
  return names.filter((name) => !skills.has(name))
}

/** A bundle as a command of its own name. */
export function commandOfBundle({ name, skills, description, instruction }: Bundle): Command {
  return {
    name,
    summary: (description || `the skills ${skills.join(', ')}`).slice(0, 100),
    usage: '[WORDS]',
    parameters: {
      type: 'object',
      properties: { words: { type: 'string', default: '', description: 'what is to be done' } },
    },
    scope: 'anyone',
    changes: ['send'],
    run: (args) => {
      const text = [useLine(skills), instruction, String(args['words'] ?? '')].filter((part) => part.trim() !== '')
      return { type: 'change', change: { type: 'send', text: text.join(' ') } }
    },
  }
}

function one(verb: string, [word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word
  throw usage(`Use: hermes bundles ${verb} NAME`)
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
const problem = (text: string): CommandOutput => ({ type: 'text', text, isProblem: true })
const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })
