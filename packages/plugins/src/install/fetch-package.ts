// Gets the files of a plugin: from a folder, a tarball, npm or git. Nothing of it runs, lifecycle scripts included.
import { createReadStream } from 'node:fs'
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { errorLine, HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { digestOf } from '../package/digest.js'
import { shortened } from '../package/shortened.js'
import type { PluginHost } from '../plugin-host.js'
import type { PluginSource } from '../state.js'

/** What a plugin may have, and what its tarball adds around twenty thousand files. */
const MOST_UNPACKED_BYTES = 230_000_000

/** Files of a plugin that are not in their place yet. */
export interface StagedPlugin {
  /** Absolute, without links. */
  readonly folder: string
  readonly source: PluginSource
  /** Removes what is left of it. Never rejects. */
  discard(): Promise<void>
}

interface Fetching {
  readonly host: PluginHost
  /** Where the person is, for relative paths. */
  readonly cwd: string
  readonly signal: AbortSignal
}

const GIT = /^(?:git\+|git@|git:\/\/|ssh:\/\/|github:|file:.*\.git|https?:\/\/.*\.git(?:#|$))/
const NPM = /^(?:npm:)?((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)(?:@([\w.^~><=|+ -]+))?$/i

/**
 * Gets what a person named: a folder or tarball of this machine, `npm:NAME`, `NAME@VERSION`, a git address with `#REF`, or `OWNER/REPOSITORY`.
 * @throws HermesError `plugins.not_fetched` with one line.
 */
export async function fetchPackage(from: string, fetching: Fetching): Promise<StagedPlugin> {
  const { host } = fetching
  await mkdir(host.directory, { recursive: true, mode: 0o700 })
  const stage = await mkdtemp(join(host.directory, '.staged-'))
  const discard = () => rm(stage, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  try {
    const fetched = await fetchInto(from, stage, fetching)
    const folder = await realpath(fetched.folder)
    await addDependencies(folder, fetching)
    return { folder, source: fetched.source, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

type Fetched = Pick<StagedPlugin, 'folder' | 'source'>

async function fetchInto(from: string, stage: string, fetching: Fetching): Promise<Fetched> {
  const local = await realpath(
    join(fetching.cwd, from).startsWith('/') && !from.startsWith('/') ? join(fetching.cwd, from) : from,
  ).catch(() => null)
  const info = local === null || GIT.test(from) ? null : await stat(local)
  if (info?.isDirectory()) return copied(local!, stage)
  if (info?.isFile()) return unpacked({ type: 'tarball', from: local!, pin: null }, local!, { stage, fetching })
  if (GIT.test(from)) return cloned(from, stage, fetching)
  if (/^[\w.-]+\/[\w.-]+(?:#.*)?$/.test(from) && !from.startsWith('.')) return cloned(`github:${from}`, stage, fetching)
  const [, name, version] = NPM.exec(from) ?? []
  if (name === undefined || from.startsWith('.'))
    throw notFetched(`${shortened(from)} is no folder, tarball, npm package or git address.`)
  return packed(name, version, { stage, fetching })
}

async function copied(folder: string, stage: string): Promise<Fetched> {
  const target = join(stage, 'plugin')
  const isLeftOut = (path: string) => path !== folder && /^(?:node_modules|\.git)$/.test(basename(path))
  await cp(folder, target, { recursive: true, verbatimSymlinks: true, filter: (path) => !isLeftOut(path) })
  return { folder: target, source: { type: 'folder', from: folder, pin: null } }
}

interface Staging {
  readonly stage: string
  readonly fetching: Fetching
}

async function packed(name: string, version: string | undefined, { stage, fetching }: Staging): Promise<Fetched> {
  const named = version === undefined ? name : `${name}@${version}`
  const output = await run(['npm', 'pack', named, '--ignore-scripts', '--json', '--loglevel=error'], stage, fetching)
  const [pack] = JSON.parse(output.slice(output.indexOf('['))) as readonly JsonObject[]
  const file = String(pack?.['filename'] ?? '')
  const pin = `${String(pack?.['version'])} ${String(pack?.['integrity'])}`
  return unpacked({ type: 'npm', from: named, pin }, join(stage, basename(file)), { stage, fetching })
}

async function unpacked(source: PluginSource, file: string, { stage, fetching }: Staging): Promise<Fetched> {
  const target = join(stage, 'plugin')
  await mkdir(target)
  await requireFits(file, fetching.signal)
  await run(['tar', '-xzf', file, '-C', target, '--no-same-owner'], stage, fetching)
  const names = await readdir(target)
  // Tarballs of npm and of forges hold one folder.
  const only = names.length === 1 && (await lstat(join(target, names[0]!))).isDirectory()
  return { folder: only ? join(target, names[0]!) : target, source }
}

/** A small file may hold more than a disk does. */
async function requireFits(file: string, signal: AbortSignal): Promise<void> {
  let bytes = 0
  const count = new Writable({
    write(chunk: Buffer, _, done) {
      bytes += chunk.length
      done(bytes > MOST_UNPACKED_BYTES ? tooLarge() : null)
    },
  })
  try {
    await pipeline(createReadStream(file), createGunzip(), count, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw HermesError.isInstance(error) ? error : notFetched(`${basename(file)} is no tarball (${errorLine(error)}).`)
  }
}

async function cloned(from: string, stage: string, fetching: Fetching): Promise<Fetched> {
  const [address = '', ref] = from
    .replace(/^git\+/, '')
    .replace(/^github:/, 'https://github.com/')
    .split('#')
  if (address.startsWith('-') || ref?.startsWith('-')) throw notFetched(`${shortened(from)} is no git address.`)
  const target = join(stage, 'plugin')
  const git = ['git', '-c', 'core.hooksPath=/dev/null', '-c', 'protocol.ext.allow=never'] as const
  await run([...git, 'clone', '--quiet', '--no-recurse-submodules', '--', address, target], stage, fetching)
  if (ref !== undefined) await run([...git, '-C', target, 'checkout', '--quiet', '--detach', ref], stage, fetching)
  const pin = (await run([...git, '-C', target, 'rev-parse', 'HEAD'], stage, fetching)).trim()
  await rm(join(target, '.git'), { recursive: true, force: true })
  return { folder: target, source: { type: 'git', from, pin } }
}

/** What its package.json depends on; locked where it has a lock file. */
async function addDependencies(folder: string, fetching: Fetching): Promise<void> {
  const value: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}'))
  const { dependencies } = isJsonObject(value) ? value : {}
  if (!isJsonObject(dependencies) || Object.keys(dependencies).length === 0) return
  // npm would empty and write what a link leads to, and runs the git that such a file names.
  await digestOf(folder).catch((error: unknown) => {
    throw notFetched(`${errorLine(error).replace(/\.$/, '')}.`)
  })
  await rm(join(folder, '.npmrc'), { recursive: true, force: true })
  const isLocked = await stat(join(folder, 'package-lock.json')).catch(() => null)
  const flags = ['--ignore-scripts', '--omit=dev', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error']
  await run(['npm', isLocked ? 'ci' : 'install', ...flags], folder, fetching)
}

async function run(argv: readonly [string, ...string[]], cwd: string, { host, signal }: Fetching): Promise<string> {
  const { exitCode, stdout, stderr } = await host.run(argv, { cwd, signal })
  signal.throwIfAborted()
  if (exitCode === 0) return stdout
  if (exitCode === 127) throw notFetched(`${argv[0]} is not installed.`)
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const why = lines.find((line) => /error|fatal/i.test(line)) ?? lines[0] ?? `exit code ${exitCode ?? 'unknown'}`
  throw notFetched(`${argv[0]} failed: ${shortened(why, 300)}`)
}

const tooLarge = () => notFetched(`it unpacks to more than ${MOST_UNPACKED_BYTES / 1_000_000} MB.`)
const notFetched = (message: string) =>
  new HermesError(`The plugin could not be fetched: ${message}`, { code: 'plugins.not_fetched' })
