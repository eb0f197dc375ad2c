// Which programs the settings of a repository bring into play while git only looks, and what takes them away.

/** A setting of git by its name, and whose it is: `system`, `global`, `local`, `worktree` or `command`. */
export interface GitSetting {
  readonly scope: string
  readonly name: string
}

const OWN_SCOPES: ReadonlySet<string> = new Set(['local', 'worktree'])
/** A name of a driver has any letters but the end of a line. */
const DRIVER = /^(filter|merge)\.(.+)\.(?:clean|smudge|process|driver)$/s
/** What stands in a text for bytes that are none. */
const NO_LETTER = '\uFFFD'

/** What `git config --list --show-scope --name-only` printed, one a line, its scope before a tab. Pure. */
export function readGitSettings(listed: string): readonly GitSetting[] {
  return listed.split('\n').flatMap((line) => {
    const tab = line.indexOf('\t')
    return tab === -1 ? [] : [{ scope: line.slice(0, tab), name: line.slice(tab + 1) }]
  })
}

/** Whether the repository itself says it, or what its own settings include. */
export function isOfRepository({ scope }: GitSetting): boolean {
  return OWN_SCOPES.has(scope)
}

/**
 * The settings that take filters and merge drivers away which the repository itself defines; `null` where one of them has a name that cannot
 * be written again, so that it would run all the same. Pure.
 */
export function withoutRepositoryPrograms(
  settings: readonly GitSetting[],
): readonly (readonly [name: string, value: string])[] | null {
  const drivers = settings.filter((setting) => isOfRepository(setting) && DRIVER.test(setting.name))
  if (drivers.some(({ name }) => name.includes(NO_LETTER))) return null
  return drivers.flatMap(({ name }): readonly (readonly [string, string])[] => {
    const [, kind, driver] = DRIVER.exec(name)!
    // A merge driver that fails leaves a conflict, which is for somebody to look at.
    if (kind === 'merge') return [[`merge.${driver}.driver`, 'false']]
    return ['clean', 'smudge', 'process', 'required'].map((part) => [
      `filter.${driver}.${part}`,
      part === 'required' ? 'false' : '',
    ])
  })
}

/** The variables by which git takes settings for one command, whatever letters their names have. Git before 2.31 takes none. Pure. */
export function gitSettingsEnv(
  settings: readonly (readonly [name: string, value: string])[],
): Readonly<Record<string, string>> {
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) }
}
