import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { type ModuleHooks, registerHooks } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/**
 * Refuses a file that others could have written, or put where it is: it and each folder above it belong to the user or to root, and nobody else
 * may write to them. In a folder such as `/tmp`, where people cannot replace what belongs to others, they may.
 */
function requireOwn(file: string): void {
  for (let path = file; ; path = dirname(path)) {
    const { uid, mode } = statSync(path)
    const user = process.getuid?.()
    if (user !== undefined && uid !== user && uid !== 0) throw new Error(`${path} belongs to somebody else`)
    const isShared = path !== file && (mode & STICKY) !== 0
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && !isShared)
      throw new Error(`others can write to ${path}. Run: chmod go-w ${path}`)
    if (path === dirname(path)) return
  }
}

/** The address of a module in `directory` that only the user can have put there. */
export async function ownModule(name: string, directory: string): Promise<string> {
  // The file first: where the folder is missing too, an error names what was asked for, each time the same.
  const file = await realpath(join(directory, name))
  const folder = await realpath(directory)
  if (relative(folder, file).startsWith('..')) throw new Error(`it lies outside ${directory}`)
  requireOwn(file)
  return pathToFileURL(file).href
}

/**
 * Holds what modules import, and what that imports, to the rule they are held to themselves; from now on, so that it counts for what they
 * import later too. A file that is refused fails its import.
 */
export function guardImports(): { readonly add: (href: string) => void; readonly hooks: ModuleHooks } {
  const guarded = new Set<string>()
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context)
      const { url } = resolved
      if (context.parentURL === undefined || !guarded.has(context.parentURL) || !url.startsWith('file:'))
        return resolved
      if (!guarded.has(url)) requireOwn(fileURLToPath(url))
      guarded.add(url)
      return resolved
    },
  })
  return { add: (href) => void guarded.add(href), hooks }
}
