import type { Command, ExtensionApi, Registration } from '@hermes/contracts/extension'
import { useLine } from '../attach-skills.js'
import { BUNDLED } from '../bundled.js'
import type { BundleStore } from '../bundles/bundle-store.js'
import type { Skill } from '../format/skill.js'
import type { SkillIndex } from '../index/skill-index.js'
import type { SkillLibrary } from '../skill-library.js'
import { commandOfBundle } from './bundles-command.js'

const COMMAND = /^[a-z][a-z0-9-]{0,31}$/

/** `/skill NAME [WORDS]`, for any skill there is. */
export function skillCommand(library: SkillLibrary): Command {
  return {
    name: 'skill',
    summary: 'work by a skill',
    usage: 'NAME [WORDS]',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'a skill; hermes skills list shows all' },
        words: { type: 'string', default: '', description: 'what is to be done' },
      },
      required: ['name'],
    },
    scope: 'anyone',
    changes: ['send'],
    complete: async (words, { cwd }) =>
      words.length > 0
        ? []
        : [...(await library.index(cwd)).skills.values()].map(({ name, description }) => ({
            value: name,
            detail: description,
          })),
    run: async (args, { cwd }) => {
      const skill = library.require(await library.index(cwd), String(args['name']))
      return sendWith(skill.name, String(args['words'] ?? ''))
    },
  }
}

/** `/reload-skills`. `refresh`: commands by skills; gives what is not right about them. */
export function reloadCommand(library: SkillLibrary, refresh: () => Promise<readonly string[]>): Command {
  return {
    name: 'reload-skills',
    summary: 'look for skills anew',
    duringRun: 'allowed',
    needsSession: false,
    run: async (_, { cwd }) => {
      library.reload()
      const [{ skills, problems: own }, all] = await Promise.all([library.index(cwd), refresh()])
      const problems = [...new Set([...own, ...all])]
      const text = { type: 'text', text: `Skills: ${countLine(skills)}` } as const
      return problems.length === 0 ? text : [text, { type: 'text', text: problems.join('\n'), isProblem: true }]
    },
  }
}

/** A skill as a command of its own name. */
function commandOf({ name, description, source }: Skill): Command {
  // What others wrote stays out of lists that are shown in chats.
  const summary = source === 'user' ? description : `a skill (${source})`
  return {
    name,
    summary: summary.slice(0, 100),
    usage: '[WORDS]',
    parameters: {
      type: 'object',
      properties: { words: { type: 'string', default: '', description: 'what is to be done' } },
    },
    scope: 'anyone',
    changes: ['send'],
    run: (args) => sendWith(name, String(args['words'] ?? '')),
  }
}

function sendWith(name: string, words: string) {
  const text = words === '' ? useLine([name]) : `${useLine([name])} ${words}`
  return { type: 'change', change: { type: 'send', text } } as const
}

/** Keeps a command for each bundle, and for each skill that does not come with Hermes, as they come and go. */
export class SkillCommands {
  readonly #library: SkillLibrary
  readonly #commands: ExtensionApi['commands']
  readonly #bundles: BundleStore
  readonly #registered = new Map<string, { readonly what: string; readonly registration: Registration }>()

  constructor(library: SkillLibrary, bundles: BundleStore, commands: ExtensionApi['commands']) {
    this.#library = library
    this.#bundles = bundles
    this.#commands = commands
  }

  /** Looks anew. A name that a command has already stays what it is. Gives what is not right about skills, a line each. Never rejects. */
  refresh(): Promise<readonly string[]> {
    return this.#keep(this.#library.index(this.#library.home.cwd))
  }

  /** The same as a process starts. */
  start(): Promise<readonly string[]> {
    return this.#keep(this.#library.glance(this.#library.home.cwd))
  }

  async #keep(index: Promise<SkillIndex>): Promise<readonly string[]> {
    const [{ skills, problems }, { bundles, problems: odd }] = await Promise.all([index, this.#bundles.list()])
    const own = [...skills.values()].filter(({ source, name }) => source !== 'bundled' && COMMAND.test(name))
    // What a person put together is more to them than a single skill of that name.
    const wanted = new Map(
      own.map((skill) => {
        const command = commandOf(skill)
        return [skill.name, { what: command.summary, command }]
      }),
    )
    for (const bundle of bundles)
      wanted.set(bundle.name, { what: JSON.stringify(bundle), command: commandOfBundle(bundle) })
    for (const [name, { what, registration }] of this.#registered) {
      if (wanted.get(name)?.what === what) continue
      registration.dispose()
      this.#registered.delete(name)
    }
    for (const [name, { what, command }] of wanted) {
      if (this.#registered.has(name)) continue
      try {
        this.#registered.set(name, { what, registration: this.#commands.add(command) })
      } catch {
        // /skill NAME reaches it all the same; or the home is closed by now.
      }
    }
    return [...problems, ...odd]
  }
}

/** How many skills there are, for a person. */
export function countLine(skills: ReadonlyMap<string, Skill>): string {
  const own = [...skills.values()].filter(({ source }) => source !== 'bundled').length
  return `${own} of your own, ${skills.size - own} of ${BUNDLED.length} that come with Hermes.`
}
