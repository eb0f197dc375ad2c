// Whether the sources changed since the last build: a scan of modification times, some milliseconds.
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDERS = ['apps', 'packages']
const FILES = ['package.json', 'pnpm-lock.yaml', 'tsup.app.ts', 'tsup.config.ts', 'tsconfig.base.json']
const SKIPPED = new Set(['node_modules', 'dist', '.turbo', 'coverage', '__fixtures__'])
const NO_INPUT = /\.test\.ts$|^README\.md$/

/**
 * @param {string} root of the workspace
 * @param {string} stamp path of a file that {@link writeStamp} wrote
 * @returns {boolean} true when the stamp is missing or older than a source, manifest or build configuration
 */
export function isStale(root, stamp) {
  const builtMs = mtimeMs(stamp)
  if (builtMs === null) return true
  const isNewer = (path) => (mtimeMs(path) ?? 0) > builtMs
  return FILES.some((name) => isNewer(join(root, name))) || FOLDERS.some((name) => hasNewer(join(root, name), isNewer))
}

/** Marks a build that started at `startedMs`, so that what changed while it ran counts as newer. */
export function writeStamp(stamp, startedMs) {
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, '')
  utimesSync(stamp, startedMs / 1000, startedMs / 1000)
}

function hasNewer(directory, isNewer) {
  return readdirSync(directory, { withFileTypes: true }).some((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return !SKIPPED.has(entry.name) && hasNewer(path, isNewer)
    return entry.isFile() && !NO_INPUT.test(entry.name) && isNewer(path)
  })
}

function mtimeMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}
