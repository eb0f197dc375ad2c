import { join } from 'node:path'
import { folderOf, isGroup } from '../people/people.js'
import type { HomeLongMemory } from './home-long-memory.js'
import type { HomeMemory } from './home-memory.js'

/** What is remembered for one person. */
interface PersonalMemory {
  /** `null` where config.yaml switches it off. */
  readonly files: HomeMemory | null
  /** `null` where config.yaml names no provider. */
  readonly long: HomeLongMemory | null
}

interface PersonalMemoriesOptions {
  /** Where the owner's files are; those of others are in `users/NAME` below it. */
  readonly directory: string
  /** Groups are shown what the owner's files say too. */
  readonly groupsSeeOwner: boolean
  readonly openFiles: (directory: string) => HomeMemory | null
  /** `person`: `null` for the owner, whose account and file are those of config.yaml. */
  readonly openLong: (person: { readonly name: string; readonly directory: string } | null) => HomeLongMemory | null
}

/** What is remembered for each person of a home, apart from all others. Nothing is opened or read before it is asked. */
export class PersonalMemories {
  readonly owner: PersonalMemory
  readonly #options: PersonalMemoriesOptions
  readonly #others = new Map<string, PersonalMemory>()

  constructor(options: PersonalMemoriesOptions) {
    this.#options = options
    this.owner = { files: options.openFiles(options.directory), long: options.openLong(null) }
  }

  of(person: string | null): PersonalMemory {
    if (person === null) return this.owner
    const known = this.#others.get(person)
    if (known) return known
    const { directory: ofOwner, openFiles, openLong } = this.#options
    const name = folderOf(person)
    const directory = join(ofOwner, 'users', name)
    const memory = { files: this.#shown(person, openFiles(directory)), long: openLong({ name, directory }) }
    this.#others.set(person, memory)
    return memory
  }

  /** A group keeps things with the group, whatever it is shown. */
  #shown(person: string, own: HomeMemory | null): HomeMemory | null {
    const ofOwner = this.owner.files
    if (!own || !ofOwner || !isGroup(person) || !this.#options.groupsSeeOwner) return own
    return {
      ...own,
      section: async () => {
        const sections = await Promise.all([own.section(), ofOwner.section()])
        const texts = sections.map(({ text }) => text).filter((text) => text !== '')
        const isUnconfirmed = sections.some((section) => section.isUnconfirmed)
        return { text: texts.join('\n\n'), problems: sections.flatMap(({ problems }) => problems), isUnconfirmed }
      },
    }
  }

  /** Waits a moment for what is still to be kept. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.owner, ...this.#others.values()].map(({ long }) => long?.close()))
  }
}
