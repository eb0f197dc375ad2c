import { posix } from 'node:path'
import { type Homes, type Protection, protectionOf } from './protected.js'

/** What is done to the path. */
export type PathOperation = 'read' | 'write' | 'mkdir' | 'rename' | 'remove'

/** Options of {@link checkPath}. */
export interface CheckPathOptions extends Homes {
  readonly operation: PathOperation
}

/** Whether a path may be touched. With `severity: 'ask'` a person may agree; `deny` has no way around. */
type PathCheck = { readonly ok: true } | ({ readonly ok: false } & Protection)

/**
 * Checks a path against the lists of protected files: credentials, Hermes' own secrets, environment files, devices, system files.
 * Pure; `..` is resolved here, links are not, so pass the real path. Letter case never makes a difference.
 */
export function checkPath(path: string, options: CheckPathOptions): PathCheck {
  if (path.includes('\0') || !path.startsWith('/')) {
    return { ok: false, rule: 'bad-path', reason: 'it holds a null character, or is not absolute', severity: 'deny' }
  }
  const normal = posix
    .normalize(path)
    .replace(/^\/\//, '/')
    .replace(/(?<=.)\/$/, '')
  const access = options.operation === 'read' ? 'read' : 'write'
  const removes = options.operation === 'remove' || options.operation === 'rename'
  if (removes && [options.home, options.userHome].some((folder) => folder && isWithin(folder, normal))) {
    return { ok: false, rule: 'home-folder', reason: 'a home folder would go with it', severity: 'deny' }
  }
  const protection = protectionOf(normal, access, options)
  return protection ? { ok: false, ...protection } : { ok: true }
}

/** Whether `path` is `folder` or inside it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  const base = folder === '/' ? '' : folder.replace(/\/+$/, '')
  return path === folder || path === base || path.startsWith(`${base}/`)
}
