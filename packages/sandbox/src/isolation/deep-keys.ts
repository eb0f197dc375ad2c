import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isCredentialName } from '@hermes/safety/credentials'
import { beginsLikeKeys } from './begins-like-keys.js'

/** Nearest to the folders that are looked through first: what lies further down is not looked at. */
const MOST_FOLDERS = 400
const MOST_DEEP = 4
/** Of so many a mount each would take too long. */
const MOST_KEYS = 40
/** A folder that changed within this time may change again without its times showing it. */
const SETTLED_MS = 100
/** Made by programs, in numbers. */
const OF_PROGRAMS =
  /^(?:node_modules|site-packages|__pycache__|\.git|registry|toolchains|versions|extensions|bin|lib|share)$/

interface Listed {
  readonly stamp: string
  readonly isSettled: boolean
  readonly folders: readonly string[]
  readonly keys: readonly string[]
}

/**
 * Finds files of keys further down in folders that are harmless otherwise: those of which the name and the first bytes both say so, since programs bring
 * certificates (`cacert.pem`) that others need. What did not change is not read again, so that it takes a look at each folder.
 */
export class DeepKeys {
  #known: ReadonlyMap<string, Listed> = new Map()

  /** Paths of files below the folders, those directly in one left out. */
  find(roots: readonly string[]): readonly string[] {
    const found = new Map<string, Listed>()
    const keys: string[] = []
    let level = roots
    for (let depth = 0; depth <= MOST_DEEP; depth++) {
      const next: string[] = []
      for (const folder of level) {
        if (found.size >= MOST_FOLDERS || keys.length >= MOST_KEYS) break
        const listed = this.#list(folder)
        if (listed === null) continue
        found.set(folder, listed)
        next.push(...listed.folders)
        if (depth > 0) keys.push(...listed.keys)
      }
      level = next
    }
    this.#known = found
    return keys.slice(0, MOST_KEYS)
  }

  #list(folder: string): Listed | null {
    try {
      const { ino, mtimeMs, ctimeMs } = lstatSync(folder)
      const stamp = `${ino} ${mtimeMs} ${ctimeMs}`
      const known = this.#known.get(folder)
      if (known?.isSettled && known.stamp === stamp) return known
      const entries = readdirSync(folder, { withFileTypes: true })
      const at = ({ name }: { readonly name: string }) => join(folder, name)
      return {
        stamp,
        isSettled: Math.abs(Date.now() - ctimeMs) > SETTLED_MS,
        folders: entries.filter((entry) => entry.isDirectory() && !OF_PROGRAMS.test(entry.name)).map(at),
        keys: entries
          .filter((entry) => entry.isFile() && isCredentialName(entry.name))
          .map(at)
          .filter(beginsLikeKeys),
      }
    } catch {
      return null
    }
  }
}
