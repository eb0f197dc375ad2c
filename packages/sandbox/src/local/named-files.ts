import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { matchGlob } from '@hermes/safety'
import { realIfThere } from '../isolation/paths.js'

/** So many files are read for the names of others. */
const MOST_READ = 200
const MOST_NAMED = 500
const MOST_BYTES = 65_536

/** How a file that names others is read. */
interface Naming {
  readonly named: (text: string, folder: string) => readonly string[]
}

/** The files of a folder that others of it name, there or not. */
export class NamedFiles {
  readonly #root: string
  readonly #patterns: ReadonlySet<string>

  private constructor(root: string, patterns: ReadonlySet<string>) {
    this.#root = root
    this.#patterns = patterns
  }

  /** Those that the files `from` name, and those that these name. Paths are from `root`, with slashes. */
  static of(root: string, from: readonly string[], { named }: Naming): NamedFiles {
    const patterns = new Set<string>()
    const open = from.map((path) => ({ path, folder: dirname(path) }))
    for (let at = 0; at < Math.min(open.length, MOST_READ); at++) {
      const { path, folder } = open[at]!
      for (const pattern of named(textOf(join(root, path)), folder)) {
        if (patterns.has(pattern) || patterns.size >= MOST_NAMED) continue
        patterns.add(pattern)
        for (const found of filesAt(root, pattern)) {
          open.push({ path: found, folder })
          // Whoever writes to where it leads writes it.
          const real = relative(root, realIfThere(join(root, found)) ?? join(root, found))
          if (real !== found && !real.startsWith('..')) patterns.add(real)
        }
      }
    }
    return new NamedFiles(root, patterns)
  }

  /** Whether `path`, from the root, is one of them. */
  holds(path: string): boolean {
    return [...this.#patterns].some((pattern) => matchGlob(pattern, path, { path: true }))
  }

  /** Those that are there. */
  present(): readonly string[] {
    return [...this.#patterns].flatMap((pattern) => filesAt(this.#root, pattern)).slice(0, MOST_NAMED)
  }
}

/** None. */
export const NO_NAMED_FILES = NamedFiles.of('/', [], { named: () => [] })

/** The files that a pattern means, one part of it after the other. */
function filesAt(root: string, pattern: string): readonly string[] {
  let found: readonly string[] = ['']
  for (const part of pattern.split('/')) {
    const isGlob = /[*?]/.test(part)
    found = found
      .flatMap((folder) => (isGlob ? namesIn(join(root, folder), part) : [part]).map((name) => join(folder, name)))
      .slice(0, MOST_NAMED)
  }
  return found.filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false)
}

function namesIn(folder: string, pattern: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => matchGlob(pattern, name, { path: true }))
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    const info = statSync(path)
    return info.isFile() && info.size <= MOST_BYTES ? readFileSync(path, 'utf8') : ''
  } catch {
    return ''
  }
}
