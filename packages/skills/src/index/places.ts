import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SkillsHome } from '../skills-home.js'
import type { SkillRoot } from './skill-index.js'

/** Where projects keep skills. */
const PROJECT_FOLDERS = ['.hermes/skills', '.agents/skills']

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
  for (let folder = cwd; ; folder = dirname(folder)) {
    const places = PROJECT_FOLDERS.map((place) => join(folder, place)).filter(
      (place) => !own.includes(place) && existsSync(place),
    )
    if (places.length > 0) {
      if (await home.trust.isTrusted(folder))
        return { roots: places.map((place): SkillRoot => ({ source: 'project', folder: place })), problems: [] }
      const problem = `Skills in ${places.join(' and ')} are left out: the project is not trusted as it is. To trust it: hermes trust add ${folder}`
      return { roots: [], problems: [problem] }
    }
    // What lies above the person's home, or a repository, is no part of this project.
    if (folder === home.userHome || existsSync(join(folder, '.git')) || folder === dirname(folder)) return NONE
  }
}
