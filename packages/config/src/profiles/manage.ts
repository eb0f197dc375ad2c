import { constants } from 'node:fs'
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HermesError, isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { editYaml } from '../edit-yaml.js'
import { readText } from '../files.js'
import { parseYaml } from '../yaml-file.js'
import {
  checkProfileName,
  DEFAULT_PROFILE,
  homeOfProfile,
  profileNames,
  stickyProfile,
  unknownProfile,
} from './choose.js'
import { refuseRunningGateway } from './running-gateways.js'

/** A profile as lists show it. */
interface Profile {
  readonly name: string
  /** Absolute. */
  readonly home: string
  /** What its person wrote about it, `null` for nothing. */
  readonly description: string | null
  /** Whether `hermes profile use` chose it. */
  readonly isChosen: boolean
}

/** What a new profile takes from another: settings and knowledge, never sessions, logins of `auth.json` or approvals. */
const CLONED = [
  ...['config.yaml', '.env', 'SOUL.md', 'permissions.yaml'],
  ...['skills', 'extensions', 'memories/MEMORY.md', 'memories/USER.md'],
]

/** All profiles below a root home, `default` first. */
export async function listProfiles(root: string): Promise<readonly Profile[]> {
  const chosen = (await readText(stickyProfile(root)))?.trim() || DEFAULT_PROFILE
  return Promise.all(
    [DEFAULT_PROFILE, ...(await profileNames(root))].map(async (name) => {
      const home = homeOfProfile(root, name)
      return { name, home, description: await descriptionOf(home), isChosen: name === chosen }
    }),
  )
}

async function descriptionOf(home: string): Promise<string | null> {
  const text = await readText(join(home, 'profile.yaml'))
  const value = text === null ? null : (await parseYaml(text)).value
  const description = isJsonObject(value) ? value['description'] : null
  return typeof description === 'string' && description !== '' ? description : null
}

/** The profile of a name. @throws HermesError `config.unknown_profile` */
export async function findProfile(root: string, name: string): Promise<Profile> {
  const found = (await listProfiles(root)).find((profile) => profile.name === name)
  if (found) return found
  throw await unknownProfile(root, name)
}

/**
 * Makes a profile, empty or with settings, skills and memories of another.
 * @throws HermesError `config.bad_profile`, `config.profile_exists`, `config.unknown_profile` for `cloneFrom`
 */
export async function createProfile(
  root: string,
  name: string,
  { cloneFrom, description }: { readonly cloneFrom?: string; readonly description?: string } = {},
): Promise<Profile> {
  const home = await newHome(root, name)
  const source = cloneFrom === undefined ? null : await existingHome(root, cloneFrom)
  await mkdir(home, { recursive: true, mode: 0o700 })
  for (const path of source === null ? [] : CLONED) await copyIfThere(join(source!, path), join(home, path))
  if (description !== undefined) await describeProfile(root, name, description)
  return { name, home, description: description ?? null, isChosen: false }
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if (!(await stat(from).catch(() => null))) return
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, dereference: true })
}

/** The home for a new profile. @throws HermesError `config.bad_profile`, `config.profile_exists` */
export async function newHome(root: string, name: string): Promise<string> {
  if (name !== DEFAULT_PROFILE && !(await stat(homeOfProfile(root, checkProfileName(name))).catch(() => null)))
    return homeOfProfile(root, name)
  throw new HermesError(`There is a profile "${name}" already.`, { code: 'config.profile_exists' })
}

/** The home of a profile that is there. @throws HermesError `config.unknown_profile` */
export async function existingHome(root: string, name: string): Promise<string> {
  if (name === DEFAULT_PROFILE || (await profileNames(root)).includes(name)) return homeOfProfile(root, name)
  throw await unknownProfile(root, name)
}

/** Makes a profile the one that is used when none is named. @throws HermesError `config.unknown_profile` */
export async function stickToProfile(root: string, name: string): Promise<void> {
  await existingHome(root, name)
  if (name === DEFAULT_PROFILE) await rm(stickyProfile(root), { force: true })
  else await writePrivate(stickyProfile(root), `${name}\n`)
}

/** Says what a profile is for. An empty text takes it away. @throws HermesError `config.unknown_profile` */
export async function describeProfile(root: string, name: string, description: string): Promise<void> {
  const file = join(await existingHome(root, name), 'profile.yaml')
  const text = await editYaml((await readText(file)) ?? '', (edit) => {
    if (description === '') edit.remove(['description'])
    else edit.set(['description'], description)
  })
  await writePrivate(file, text)
}

/**
 * Deletes a profile with all that is in it.
 * @throws HermesError `config.unknown_profile`, `config.bad_profile` for `default`, `config.gateway_runs`
 */
export async function deleteProfile(root: string, name: string): Promise<void> {
  const home = await ownHome(root, name, 'deleted')
  await refuseRunningGateway(home)
  await forget(root, name)
  await rm(home, { recursive: true })
}

/**
 * Gives a profile another name.
 * @throws HermesError `config.unknown_profile`, `config.bad_profile`, `config.profile_exists`, `config.gateway_runs`
 */
export async function renameProfile(root: string, name: string, to: string): Promise<void> {
  const home = await ownHome(root, name, 'renamed')
  await refuseRunningGateway(home)
  await rename(home, await newHome(root, to))
  if ((await readText(stickyProfile(root)))?.trim() === name) await stickToProfile(root, to)
}

async function ownHome(root: string, name: string, done: string): Promise<string> {
  if (name !== DEFAULT_PROFILE) return existingHome(root, name)
  throw new HermesError(`"default" is the home itself, ${root}; it cannot be ${done}.`, { code: 'config.bad_profile' })
}

async function forget(root: string, name: string): Promise<void> {
  if ((await readText(stickyProfile(root)))?.trim() === name) await stickToProfile(root, DEFAULT_PROFILE)
}
