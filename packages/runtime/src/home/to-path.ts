import { join, resolve } from 'node:path'

/** `text` as a path of this machine. */
export function toPath(text: string, userHome: string, cwd: string): string {
  return text === '~' || text.startsWith('~/') ? join(userHome, text.slice(1)) : resolve(cwd, text)
}
