import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileError } from '../file-error.js'
import { processStartTime } from '../processes/process-tree.js'

/** Where each shell has a scratch directory of its own, beside the outputs that are kept. */
export function shellsFolder(outputDir: string): string {
  return join(outputDir, 'shells')
}

/** Where named pipes lie that no command had yet. */
export function pipesFolder(outputDir: string): string {
  return join(outputDir, 'pipes')
}

/** The name of a shell's scratch directory, which tells whose it is. */
export function scratchName(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`
}

/** Removes a shell's scratch directory, and the folder around it with the last one. */
export function removeScratch(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  try {
    rmdirSync(dirname(directory))
  } catch {
    // Those of other shells are in there.
  }
}

/** Removes the scratch directories of agents that crashed, and saved output from before `outputsBeforeMs`; the time is in its name. */
export function removeLeftovers(outputDir: string, outputsBeforeMs: number): void {
  const shells = shellsFolder(outputDir)
  // A program may have hundreds of shells, each of which looks here once.
  const isThere = new Map([[process.pid, true]])
  for (const name of namesIn(shells)) {
    const owner = Number(/^(\d+)-[0-9a-f]{8}$/.exec(name)?.[1])
    if (Number.isNaN(owner)) continue
    if (!isThere.has(owner)) isThere.set(owner, processStartTime(owner) !== null)
    if (!isThere.get(owner)) rmSync(join(shells, name), { recursive: true, force: true })
  }
  for (const name of namesIn(outputDir)) {
    const savedAtMs = /^output-(\d+)-[0-9a-f]{8}\.txt$/.exec(name)?.[1]
    if (savedAtMs && Number(savedAtMs) < outputsBeforeMs) rmSync(join(outputDir, name), { force: true })
  }
}

/** Of what lies in a folder; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Input goes through a file without a name, so that `/dev/stdin` can be opened and no amount of it blocks. */
export function openInput(text: string | undefined, path: string): number | null {
  if (text === undefined) return null
  try {
    writeFileSync(path, text, { mode: 0o600 })
    return openSync(path, 'r')
  } catch (error) {
    throw fileError(error, 'write', path)
  } finally {
    rmSync(path, { force: true })
  }
}

/** A regular file's content; what a command put in its place is not followed or waited for. */
export function readIfThere(path: string): Buffer | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return fstatSync(file).isFile() ? readFileSync(file) : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** `path`, or the nearest directory above it that exists and can be entered. */
export function nearestDirectory(path: string): string {
  const isRoot = process.getuid?.() === 0
  // Whoever can enter it came through all above it; root comes through closed ones too.
  if (!isRoot && canEnter(path)) return path
  let found = path
  for (let at = path; ; at = dirname(at)) {
    // A closed folder closes everything below it.
    if (!(isRoot ? canRootEnter(at) : canEnter(at))) found = dirname(at)
    if (dirname(at) === at) return found
  }
}

function canEnter(path: string): boolean {
  try {
    accessSync(`${path}/.`, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Root enters everything, but not when it is isolated: the owner's bit counts for it as for others. */
function canRootEnter(path: string): boolean {
  try {
    const { uid, mode } = statSync(`${path}/.`)
    return uid !== 0 || (mode & 0o100) !== 0
  } catch {
    return false
  }
}
