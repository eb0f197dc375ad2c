import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorLine, HermesError, isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isTexts, SKILL_NAME } from '../format/skill.js'

/** Several skills under one command. */
export interface Bundle {
  /** As skills are called. */
  readonly name: string
  readonly description: string
  /** Names, one to five. */
  readonly skills: readonly string[]
  /** Said with them each time; may be empty. */
  readonly instruction: string
}

/** As many as one message brings along. */
const MOST_SKILLS = 5
const MAX_BYTES = 64 * 1024

/** The bundles of a home: a YAML file each. */
export class BundleStore {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** By name, with a line for each file that is none. Never rejects. */
  async list(): Promise<{ readonly bundles: readonly Bundle[]; readonly problems: readonly string[] }> {
    const names: readonly string[] = await readdir(this.#directory).catch(() => [])
    const files = names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).toSorted()
    if (files.length === 0) return { bundles: [], problems: [] }
    const { parse } = (await import('yaml')).default
    const all = await Promise.all(files.map((name) => read(join(this.#directory, name), parse)))
    return {
      bundles: all.filter((one) => typeof one !== 'string'),
      problems: all.filter((one) => typeof one === 'string'),
    }
  }

  /** @throws HermesError `skills.unknown` */
  async named(name: string): Promise<Bundle> {
    const found = (await this.list()).bundles.find((bundle) => bundle.name === name)
    if (found) return found
    throw new HermesError(`There is no bundle ${name.slice(0, 64)}. All there are: hermes bundles list`, {
      code: 'skills.unknown',
    })
  }

  /** @throws HermesError `skills.bad_bundle` for what is none or there already, `files.not_writable` */
  async create(bundle: Bundle, { isForced }: { readonly isForced: boolean }): Promise<string> {
    const why = problemOf(bundle)
    if (why !== null) throw bad(`The bundle cannot be made: ${why}.`)
    const file = join(this.#directory, `${bundle.name}.yaml`)
    const isThere = (await this.list()).bundles.some(({ name }) => name === bundle.name)
    if (isThere && !isForced) throw bad(`There is a bundle ${bundle.name} already; --force writes over it.`)
    const { stringify } = (await import('yaml')).default
    await writePrivate(file, stringify(bundle))
    return file
  }

  /** @throws HermesError `skills.unknown` */
  async delete(name: string): Promise<void> {
    await this.named(name)
    for (const ending of ['yaml', 'yml']) await rm(join(this.#directory, `${name}.${ending}`), { force: true })
  }
}

/** The bundle of a file, or one line that says why it is none. */
async function read(file: string, parse: (text: string, options: object) => unknown): Promise<Bundle | string> {
  const left = (why: string) => `Bundle ${file} is left out: ${why}.`
  try {
    const text = await readFile(file, 'utf8')
    if (text.length > MAX_BYTES) return left('it has more than 64 KB')
    const value = parse(text.replace(/^\ufeff/, ''), { maxAliasCount: 0, logLevel: 'error' })
    if (!isJsonObject(value)) return left('it is no list of keys')
    const { skills, description = '', instruction = '' } = value
    const name = basename(file).replace(/\.ya?ml$/, '')
    if (!isTexts(skills)) return left('"skills:" is a list of names')
    const bundle = { name, description: String(description), skills, instruction: String(instruction) }
    const why = problemOf(bundle)
    return why === null ? bundle : left(why)
  } catch (error) {
    return left(errorLine(error).split('\n')[0]!)
  }
}

function problemOf({ name, skills }: Bundle): string | null {
  if (!SKILL_NAME.test(name) || !/^[a-z]/.test(name) || name.length > 32)
    return `"${name.slice(0, 40)}" is no name: lower case letters, digits and dashes, at most 32`
  if (skills.length === 0 || skills.length > MOST_SKILLS) return `it names one to ${MOST_SKILLS} skills`
  const odd = skills.find((skill) => !SKILL_NAME.test(skill))
  return odd === undefined ? null : `"${odd.slice(0, 40)}" is no name of a skill`
}

const bad = (line: string) => new HermesError(line, { code: 'skills.bad_bundle' })
