import { constants, readlinkSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { linkCame, systemCode } from '../file-error.js'

/** Opens a folder for nothing but to reach what is in it; Linux alone has it, and Node no name for it. */
const O_PATH = 0o10000000

/** A folder whose entries are reached without its path, so that nobody can lay a link on the way there. */
export interface PinnedFolder extends AsyncDisposable {
  /** A path of the entry; good until the folder is let go. */
  at(name: string): string
}

/** A folder by its path alone. */
export const namedFolder = (path: string): PinnedFolder => ({
  at: (name) => join(path, name),
  [Symbol.asyncDispose]: async () => undefined,
})

/**
 * Holds the folder at `path`, which had no links when leave was given. Where the system has no way to reach entries of an open folder,
 * its path is looked at once more instead.
 * @throws HermesError `environment.changed` when a link was laid on the way; what the system answers when it cannot be opened.
 */
export async function pinFolder(path: string): Promise<PinnedFolder> {
  const folder = process.platform === 'linux' ? await open(path, O_PATH | constants.O_DIRECTORY) : null
  const real = folder && pathOf(folder.fd)
  if (folder && real === path)
    return { at: (name) => `/proc/self/fd/${folder.fd}/${name}`, [Symbol.asyncDispose]: () => folder.close() }
  await folder?.close()
  if ((real ?? realpathSync(path)) !== path) throw linkCame(path)
  return namedFolder(path)
}

/**
 * Makes sure that what is open was reached by `path`, which had no links when leave was given.
 * @throws HermesError `environment.changed` when it was not.
 */
export function requirePath(file: number, path: string): void {
  const real = pathOf(file) ?? realpathSync(path)
  // Linux says so of a file that another one took the place of since.
  if (real.replace(/ \(deleted\)$/, '') !== path && real !== path) throw linkCame(path)
}

/** `null` where the system does not tell. */
function pathOf(file: number): string | null {
  if (process.platform !== 'linux') return null
  try {
    return readlinkSync(`/proc/self/fd/${file}`)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}
