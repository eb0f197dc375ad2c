import { posix } from 'node:path'
import type { DirectoryEntry, Environment } from '@hermes/contracts/environment'
import type { Ignore } from 'ignore'

/** The `.gitignore` files that apply in a folder, outermost first. */
export type IgnoreRules = readonly { readonly folder: string; readonly ignore: Ignore }[]

/**
 * The rules of `folder` itself added to those from above. The root of a repository knows none from above. `entries` is what the folder
 * holds, where somebody knows: most folders have no rules to ask for.
 */
export async function rulesIn(
  environment: Environment,
  folder: string,
  above: IgnoreRules,
  entries?: readonly DirectoryEntry[],
): Promise<IgnoreRules> {
  const has = (wanted: string) => entries?.some(({ name }) => name === wanted)
  const isRepository = has('.git') ?? (await environment.stat(posix.join(folder, '.git'))) !== null
  const inherited = isRepository ? [] : above
  if (has('.gitignore') === false) return inherited
  const bytes = await environment.read(posix.join(folder, '.gitignore')).catch(() => null)
  if (!bytes) return inherited
  const { default: ignore } = await import('ignore')
  return [...inherited, { folder, ignore: ignore().add(new TextDecoder().decode(bytes)) }]
}

/** The rules that hold above `folder`, up to the root of its repository or of the file system. */
export async function rulesAbove(environment: Environment, folder: string): Promise<IgnoreRules> {
  const isRepository = (await environment.stat(posix.join(folder, '.git'))) !== null
  const parent = posix.dirname(folder)
  return isRepository || parent === folder ? [] : rulesIn(environment, parent, await rulesAbove(environment, parent))
}

/** `name` in a folder, both without links or dots: `posix.join` takes longer than everything else that is done with a name. */
export const inFolder = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`)

/** Whether the rules leave `path`, which is below all of their folders, out; the innermost rule that says anything decides. */
export function isIgnored(rules: IgnoreRules, path: string, isDirectory: boolean): boolean {
  for (let at = rules.length - 1; at >= 0; at--) {
    const { folder, ignore } = rules[at]!
    const relative = path.slice(inFolder(folder, '').length)
    const verdict = ignore.test(isDirectory ? `${relative}/` : relative)
    if (verdict.ignored) return true
    if (verdict.unignored) return false
  }
  return false
}
