import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { access, constants, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { fileOf, importedFiles } from './imported-files.js'

/** What is larger is not read: its size and its times of change count instead of what it holds. */
const MAX_BYTES = 20_000_000

/**
 * SHA-256 as hexadecimal digits over those of `paths` that are files, with their names, and what scripts among them load of the files beside
 * them; `~` is `userHome`, and `cwd` the folder that they are started in. `null` where none is a file.
 * What cannot be read makes it `unknown`, which is like no other, and so does a script of a shell, a Makefile, a manifest or a justfile that has
 * something run which only variables, patterns or the output of programs name. Of a large one its size and its times of change count instead of what it holds.
 */
export async function digestFiles(
  paths: readonly string[],
  { cwd, userHome }: { readonly cwd: string; readonly userHome: string },
): Promise<string | null> {
  const hash = createHash('sha256')
  const found: string[] = []
  let isAny = false
  const add = async (path: string, file: string): Promise<boolean> => {
    const info = await stat(file, { bigint: true }).catch(() => null)
    if (!info?.isFile()) return true
    isAny = true
    if (info.size > MAX_BYTES) {
      hash.update(`${path}\0${marksOf(info)}\0`)
      return true
    }
    found.push(file)
    const content = await readFile(file).catch(() => null)
    if (content !== null) hash.update(`${path}\0${content.length}\0`).update(content)
    return content !== null
  }
  const named = [...paths].sort()
  const recipes = new Set<string>()
  const added = new Set<string>()
  for (const path of named) {
    const { file, isRecipe } = await fileOf(path.replace(/^~(?=\/|$)/, userHome))
    if (isRecipe) recipes.add(file)
    if (added.has(file)) continue
    added.add(file)
    if (!(await add(isRecipe ? file : path, file))) return 'unknown'
  }
  const { files, beside, isFollowed } = await importedFiles(found, { cwd, userHome, recipes })
  if (!isFollowed) return 'unknown'
  for (const file of [...files].sort()) if (!(await add(file, file))) return 'unknown'
  // A grant for what loads nothing is what it was before that counted.
  if (beside.length > 0) hash.update(JSON.stringify(beside))
  return isAny ? hash.digest('hex') : null
}

/** What tells a file from one with other contents without reading it. */
function marksOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [size, ino, mtimeNs, ctimeNs].join(' ')
}

/** Where programs of the system lie, which no agent changes without a question of its own. */
const OF_THE_SYSTEM = /^\/(?:usr\/)?(?:bin|sbin|lib|lib32|lib64|libexec)\/|^\/(?:usr\/share|System|nix\/store|snap)\//

/** Options of {@link identifyPrograms}. */
interface IdentifyOptions {
  /** Folders as in `PATH`; what is no absolute path is looked for from `cwd`. */
  readonly path: string
  readonly cwd: string
}

/**
 * Which programs the names stand for: SHA-256 as hexadecimal digits over the real path and the contents of each that is none of the system.
 * `null` where all others are, or are not found. Of a large one its size and its times of change count instead of what it holds.
 */
export async function identifyPrograms(
  names: readonly string[],
  { path, cwd }: IdentifyOptions,
): Promise<string | null> {
  const found = await Promise.all([...names].sort().map((name) => programOf(name, { path, cwd })))
  const own = found.filter((program) => program !== null)
  return own.length === 0 ? null : createHash('sha256').update(JSON.stringify(own)).digest('hex')
}

async function programOf(name: string, { path, cwd }: IdentifyOptions): Promise<readonly string[] | null> {
  for (const folder of path.split(':')) {
    const file = join(isAbsolute(folder) ? folder : join(cwd, folder), name)
    const isProgram = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    )
    if (!isProgram) continue
    const real = await realpath(file)
    if (OF_THE_SYSTEM.test(real)) return null
    const info = await stat(real, { bigint: true })
    if (info.size > MAX_BYTES) return [name, real, marksOf(info)]
    return [
      name,
      real,
      createHash('sha256')
        .update(await readFile(real))
        .digest('hex'),
    ]
  }
  return null
}
