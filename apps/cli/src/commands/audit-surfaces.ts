import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { changesLifecycle, LATER_FILES, surfaceOf, visibleText } from '@hermes/safety'
import { NamedFiles } from '@hermes/sandbox'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { createStyle } from '../render/style.js'

interface Found {
  readonly path: string
  readonly by: string
  readonly does: string
  readonly changedAtMs: number
}

const SKIPPED: ReadonlySet<string> = new Set([
  'node_modules',
  '.venv',
  'venv',
  'target',
  'dist',
  'vendor',
  'objects',
  'logs',
  'refs',
])
const MAX_DEPTH = 8
const MAX_ENTRIES = 50_000

/** `hermes audit surfaces`: the files of the folder at hand that run or instruct later, newest first. */
export async function auditSurfaces(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const found = (await surfacesIn(io.cwd)).sort((left, right) => right.changedAtMs - left.changedAtMs)
  if (json) {
    for (const one of found) io.stdout.write(`${JSON.stringify(one)}\n`)
    return EXIT.ok
  }
  const style = createStyle(io.stdout)
  if (found.length === 0) io.stderr.write('Nothing in this folder runs or instructs by itself.\n')
  for (const { path, by, does, changedAtMs } of found) {
    const when = new Date(changedAtMs).toISOString().slice(0, 16).replace('T', ' ')
    io.stdout.write(`${style.dim(when)}  ${visibleText(path)}  ${style.dim(`${by}: ${does}`)}\n`)
  }
  return EXIT.ok
}

async function surfacesIn(root: string): Promise<Found[]> {
  const found: Found[] = []
  const naming: string[] = []
  const open = [{ folder: root, depth: 0 }]
  let seen = 0
  for (let next = open.shift(); next !== undefined && seen < MAX_ENTRIES; next = open.shift()) {
    const { folder, depth } = next
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      seen++
      const path = join(folder, entry.name)
      if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name))
        open.push({ folder: path, depth: depth + 1 })
      if (!entry.isFile() && !entry.isSymbolicLink()) continue
      if (LATER_FILES.namesOthers(path)) naming.push(relative(root, path))
      const surface = entry.name.endsWith('.sample') ? null : await surfaceAt(path, relative(root, path))
      const info = surface === null ? null : await stat(path).catch(() => null)
      if (surface && info) found.push({ path: relative(root, path), ...surface, changedAtMs: info.mtimeMs })
    }
  }
  for (const path of NamedFiles.of(root, naming, LATER_FILES).present()) {
    if (found.some((one) => one.path === path)) continue
    const { mtimeMs } = await stat(join(root, path))
    found.push({ path, by: 'make', does: 'a Makefile includes it', changedAtMs: mtimeMs })
  }
  return found
}

async function surfaceAt(path: string, shown: string): Promise<Pick<Found, 'by' | 'does'> | null> {
  const known = surfaceOf(shown)
  if (known || !path.endsWith('package.json')) return known
  const text = await readFile(path, 'utf8').catch(() => '')
  return changesLifecycle('', text)
    ? { by: 'npm', does: 'it has install scripts or hooks that run by themselves' }
    : null
}
