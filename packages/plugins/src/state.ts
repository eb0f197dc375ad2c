// Which plugins a person agreed to, as they were then: `installed-plugins.json` of the home.
import { readFile } from 'node:fs/promises'
import { isJsonObject } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import type { PluginListing } from './listing.js'
import type { PluginComponents } from './package/components.js'
import type { PluginDigest } from './package/digest.js'
import type { Capabilities } from './package/manifest.js'

/** Where a plugin came from, and what it was pinned to. */
export interface PluginSource {
  readonly type: 'folder' | 'tarball' | 'npm' | 'git'
  /** As the person named it. */
  readonly from: string
  /** The commit, or version and integrity; `null` for a folder. */
  readonly pin: string | null
}

/** What a person said yes to. */
export interface Agreed {
  readonly digest: PluginDigest
  readonly capabilities: Capabilities
  /** The module of its extension, absolute, and where it runs; `null` without one. */
  readonly code: { readonly module: string; readonly runs: 'apart' | 'inside' } | null
  /** What it registered; `null` where it runs inside, or has no code. */
  readonly listing: PluginListing | null
  readonly components: PluginComponents
  /** Why its process was not isolated then, which the person was told; `null` where it was, or has none. */
  readonly unwalled: string | null
}

/** What a plugin inside Hermes left uncaught, which switched it off in that process. */
export interface PluginFault {
  readonly error: string
  readonly atMs: number
}

/** A plugin that was installed, or is used where it lies. */
export interface PluginEntry {
  readonly name: string
  readonly version: string | null
  /** Absolute, without links. */
  readonly folder: string
  /** The project that brings it; `null` for the person's own. Absolute. */
  readonly project: string | null
  /** `null` where nobody installed it. */
  readonly source: PluginSource | null
  readonly isEnabled: boolean
  readonly agreed: Agreed | null
  /** The last one since it was enabled or updated. Default: none. */
  readonly fault?: PluginFault
  /** What it wanted beyond what it declared, and was refused, the same way. */
  readonly wish?: PluginFault
}

/** The entries that `file` keeps; none where it is missing or damaged, so that nothing runs by mistake. */
export async function readState(file: string): Promise<readonly PluginEntry[]> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    const value: unknown = JSON.parse(text)
    const plugins = isJsonObject(value) ? value['plugins'] : null
    return Array.isArray(plugins) ? (plugins as readonly unknown[]).filter(isEntry) : []
  } catch {
    return []
  }
}

/** Puts an entry in the place of the one with its folder, or takes that away with `null`. */
export function writeEntry(file: string, folder: string, entry: PluginEntry | null): Promise<void> {
  return changeState(file, (entries) => [...entries.filter((one) => one.folder !== folder), ...(entry ? [entry] : [])])
}

/** Keeps what the plugin in that folder left uncaught, for `hermes plugins doctor` of any process. */
export function noteFault(file: string, folder: string, fault: PluginFault): Promise<void> {
  return changeState(file, (entries) => entries.map((one) => (one.folder === folder ? { ...one, fault } : one)))
}

/** Keeps what the plugin in that folder wanted beyond what it declared. */
export function noteWish(file: string, folder: string, wish: PluginFault): Promise<void> {
  return changeState(file, (entries) => entries.map((one) => (one.folder === folder ? { ...one, wish } : one)))
}

function changeState(file: string, change: (entries: readonly PluginEntry[]) => readonly PluginEntry[]): Promise<void> {
  return withLock(`${file}.lock`, { busy: `Another process writes ${file}; try again.` }, async () => {
    const plugins = change(await readState(file))
    await writePrivate(file, `${JSON.stringify({ version: 1, plugins }, null, 1)}\n`)
  })
}

function isEntry(value: unknown): value is PluginEntry {
  if (!isJsonObject(value)) return false
  const { name, folder, isEnabled, agreed } = value
  const isKnown =
    agreed === null || (isJsonObject(agreed) && isJsonObject(agreed['digest']) && isJsonObject(agreed['components']))
  return typeof name === 'string' && typeof folder === 'string' && typeof isEnabled === 'boolean' && isKnown
}
