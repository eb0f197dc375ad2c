import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { HermesError, nearestName } from '@hermes/contracts'
import { defaultHome } from '../home.js'

/** The profile that is the root home itself. */
export const DEFAULT_PROFILE = 'default'

/** Which home a program works in. */
interface ChosenProfile {
  /** Absolute. */
  readonly home: string
  readonly name: string
  /** The home that holds the profiles; that of the profile `default`. */
  readonly root: string
  /** Whether a flag, `HERMES_PROFILE` or `hermes profile use` says so. */
  readonly isNamed: boolean
}

/** The home that a home is a profile of; itself when it is none. Pure. */
export function rootOfHome(home: string): string {
  const folder = dirname(home)
  return basename(folder) === 'profiles' ? dirname(folder) : home
}

/** The home of a profile. Pure. */
export function homeOfProfile(root: string, name: string): string {
  return name === DEFAULT_PROFILE ? root : join(root, 'profiles', name)
}

/** The file that says which profile is used when none is named. */
export function stickyProfile(root: string): string {
  return join(root, 'active_profile')
}

/** @throws HermesError `config.bad_profile` for what is no name of a profile. */
export function checkProfileName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return name
  throw new HermesError(
    `"${name}" is no name for a profile: 1 to 64 lower-case letters, digits, _ and -, beginning with a letter or digit.`,
    { code: 'config.bad_profile' },
  )
}

/** What {@link chooseProfile} looks at. */
interface ChooseProfileOptions {
  /** `HERMES_HOME` and `HERMES_PROFILE` are read. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. Absolute. */
  readonly userHome: string
  /** What `-p` names; goes before everything else. */
  readonly flag?: string | undefined
}

/**
 * The profile a program works in: `flag`, else `HERMES_PROFILE`, else the one that `HERMES_HOME` is, else what `hermes profile use` chose, else
 * the root home. Nothing else of any home is read.
 * @throws HermesError `config.bad_home`, `config.bad_profile`, `config.unknown_profile`
 */
export async function chooseProfile({ env, userHome, flag }: ChooseProfileOptions): Promise<ChosenProfile> {
  const home = defaultHome({ env, userHome })
  const root = rootOfHome(home)
  const named = flag ?? (env['HERMES_PROFILE'] || undefined)
  if (named === undefined && home !== root) return { home, name: basename(home), root, isNamed: false }
  const name = named ?? (await readSticky(root))
  if (name === null) return { home: root, name: DEFAULT_PROFILE, root, isNamed: false }
  const chosen = homeOfProfile(root, checkProfileName(name))
  if (name !== DEFAULT_PROFILE && !(await isFolder(chosen))) throw await unknownProfile(root, name, named === undefined)
  return { home: chosen, name, root, isNamed: true }
}

async function readSticky(root: string): Promise<string | null> {
  try {
    const name = (await readFile(stickyProfile(root), 'utf8')).trim()
    return name === '' ? null : name
  } catch {
    return null
  }
}

/** The names of the profiles below a root home, sorted, without `default`. */
export async function profileNames(root: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, 'profiles'), { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && /^[a-z0-9][a-z0-9_-]{0,63}$/.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

/** The error for a name that no profile has. */
export async function unknownProfile(root: string, name: string, isSticky = false): Promise<HermesError> {
  const names = [DEFAULT_PROFILE, ...(await profileNames(root))]
  const meant = nearestName(name, names)
  const hint = meant === null ? `There are: ${names.join(', ')}.` : `Did you mean ${meant}?`
  const line = isSticky
    ? `The profile "${name}", chosen by hermes profile use, does not exist any more. Choose another: hermes -p default profile use NAME`
    : `There is no profile "${name}". ${hint} To make it: hermes profile create ${name}`
  return new HermesError(line, { code: 'config.unknown_profile' })
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false
}

/** Options whose value is a person's text, which may look like any flag. */
const TEXTS: ReadonlySet<string> = new Set(['-q', '--query', '-z'])

/**
 * A command line without `-p NAME` or `--profile NAME`, and the name; the last one counts. What stands behind `--`, or is the text of a
 * query, is not looked at. Pure.
 * @throws HermesError `config.bad_profile` when no name follows.
 */
export function takeProfileFlag(argv: readonly string[]): { readonly argv: readonly string[]; readonly flag?: string } {
  const rest: string[] = []
  let flag: string | undefined
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--') {
      rest.push(...argv.slice(at))
      break
    }
    const isText = TEXTS.has(argv[at - 1] ?? '')
    if (!isText && (word === '-p' || word === '--profile')) flag = argv[++at] ?? ''
    else if (!isText && word.startsWith('--profile=')) flag = word.slice('--profile='.length)
    else rest.push(word)
  }
  if (flag === '' || flag?.startsWith('-'))
    throw new HermesError('-p takes the name of a profile: hermes -p NAME …', { code: 'config.bad_profile' })
  return { argv: rest, ...(flag === undefined ? {} : { flag }) }
}
