import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { SkillsHome } from '../skills-home.js'
import type { SkillRoot } from './skill-index.js'

/** Where projects keep skills. */
const PROJECT_FOLDERS = ['.hermes/skills', '.agents/skills']
/** Where they keep plugins, a folder each. */
const PLUGIN_FOLDERS = ['.hermes/plugins', '.agents/plugins']
/** What lies in either, of a project whose path comes before it. */
const IN_PROJECT = /^(.*?)\/\.(?:hermes|agents)\/(?:skills|plugins)(?:\/|$)/

/** The folders whose skills count for who works in `cwd`, and what is left out of them, a line each. Never rejects. */
export async function skillRoots(
  home: SkillsHome,
  cwd: string,
): Promise<{ readonly roots: readonly SkillRoot[]; readonly problems: readonly string[] }> {
  const user: SkillRoot = { source: 'user', folder: home.directory }
  if (home.isSafe) return { roots: [user], problems: [] }
  const shared = join(home.userHome, '.agents', 'skills')
  const project = home.settings.project_discovery ? await projectRoots(home, cwd, [home.directory, shared]) : NONE
  const external = home.settings.external_dirs.map((folder): SkillRoot => ({ source: 'external', folder }))
  const plugins = (await home.ofPlugins()).map(
    ({ plugin, folder }): SkillRoot => ({ source: 'plugin', folder, origin: plugin }),
  )
  const missing = external.filter(({ folder }) => !existsSync(folder))
  return {
    roots: [user, ...project.roots, { source: 'shared', folder: shared }, ...external, ...plugins],
    problems: [
      ...project.problems,
      ...missing.map(({ folder }) => `skills.external_dirs names ${folder}, which is not there.`),
    ],
  }
}

const NONE = { roots: [], problems: [] } as const

/** Those of the nearest folder above that has any. Nothing of a project counts that the person does not trust as it is. */
async function projectRoots(home: SkillsHome, cwd: string, own: readonly string[]) {
  const found = projectPlaces(home, cwd, own)
  if (found === null) return NONE
  const { project, places } = found
  if (await home.trust.isTrusted(project))
    return { roots: places.map((place): SkillRoot => ({ source: 'project', folder: place })), problems: [] }
  const problem = `Skills in ${places.join(' and ')} are left out: the project is not trusted as it is. To trust it: hermes trust add ${project}`
  return { roots: [], problems: [problem] }
}

function projectPlaces({ userHome }: SkillsHome, cwd: string, own: readonly string[]) {
  for (const folder of projectFolders(cwd, userHome)) {
    const places = skillFoldersOf(folder, own)
    if (places.length > 0) return { project: folder, places }
  }
  return null
}

/** The folder and those above it. What lies above the person's home, or a repository, is no part of this project. */
function projectFolders(cwd: string, userHome: string): readonly string[] {
  const folders = [cwd]
  for (let folder = cwd; ; ) {
    if (folder === userHome || existsSync(join(folder, '.git')) || folder === dirname(folder)) return folders
    folder = dirname(folder)
    folders.push(folder)
  }
}

const skillFoldersOf = (project: string, own: readonly string[]) =>
  PROJECT_FOLDERS.map((place) => join(project, place)).filter((place) => !own.includes(place) && existsSync(place))

/** Folders with skills of the plugins of a project. */
const pluginSkillsOf = (project: string) =>
  PLUGIN_FOLDERS.map((place) => join(project, place)).flatMap((place) =>
    namesIn(place).map((name) => join(place, name, 'skills')),
  )

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A folder with skills of others. */
export interface PlaceOfOthers {
  /** Absolute. */
  readonly folder: string
  /** Whether it lies in the workspace, or around it: what works there sees it. */
  readonly isOpen: boolean
  /** Whether what its skills declare counts: the person trusts it as it is. Never rejects. */
  isTrusted(): Promise<boolean>
}

/** Folders of the person, outside the home, with skills of others: `~/.agents/skills` and `external`, for who works in `workspace`. All absolute. */
export function personalPlaces(
  { userHome, external }: { readonly userHome: string; readonly external: readonly string[] },
  workspace: string,
): readonly PlaceOfOthers[] {
  const isOpen = isSeenFrom(workspace, userHome)
  return [join(userHome, '.agents', 'skills'), ...external].map((folder) => ({
    ...{ folder, isOpen: isOpen(folder), isTrusted: async () => true },
  }))
}

/** Whether a folder lies in the workspace, or around it. */
function isSeenFrom(workspace: string, userHome: string): (folder: string) => boolean {
  const whole = repositoryOf(workspace, userHome)
  return (folder) => isWithin(folder, whole) || isWithin(workspace, folder)
}

/**
 * Every folder outside the home with skills of others, for who works in `workspace`, whether those are loaded or not: all that projects around it
 * have, and those below it that one of `paths` lies in. Never rejects.
 */
export async function placesOfOthers(
  home: SkillsHome,
  workspace: string,
  paths: readonly string[] = [],
): Promise<readonly PlaceOfOthers[]> {
  const { userHome, settings, trust } = home
  const personal = personalPlaces({ userHome, external: settings.external_dirs }, workspace)
  const isOpen = isSeenFrom(workspace, userHome)
  const plugins = (await home.pluginPlaces()).map(({ folder, isAgreed }) => ({
    ...{ folder, isOpen: isOpen(folder), isTrusted: isAgreed },
  }))
  const own = [home.directory, ...personal.map(({ folder }) => folder)]
  const below = paths.flatMap((path) => IN_PROJECT.exec(path)?.[1] ?? []).filter(isOpen)
  const projects = [...new Set([...projectFolders(workspace, userHome), ...below])].flatMap((project) => [
    ...skillFoldersOf(project, own).map((folder) => ({ folder, isTrusted: () => trust.isTrusted(project) })),
    // Nobody agreed to those that are not among the plugins above.
    ...(project === userHome ? [] : pluginSkillsOf(project)).map((folder) => ({
      folder,
      isTrusted: async () => false,
    })),
  ])
  const seen = new Set<string>()
  return [...personal, ...plugins, ...projects.map((place) => ({ ...place, isOpen: isOpen(place.folder) }))].filter(
    ({ folder }) => !seen.has(folder) && seen.add(folder),
  )
}

/** The repository that a folder lies in; the folder itself where there is none. */
function repositoryOf(cwd: string, userHome: string): string {
  for (let folder = cwd; folder !== userHome && folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) return folder
  return cwd
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}${sep}`)
