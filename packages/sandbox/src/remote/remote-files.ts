import { createHash, randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { DirectoryEntry, Environment, FileStat } from '@hermes/contracts/environment'
import {
  type LinkOptions,
  listScript,
  mkdirScript,
  readScript,
  realpathScript,
  removeScript,
  renameScript,
  statScript,
  writeScript,
} from './file-scripts.js'
import type { StatFlavor } from './probe-script.js'
import { remoteFileError, remoteSystemCode } from './remote-error.js'
import type { RemoteHost } from './remote-host.js'
import { runScript } from './run-script.js'

const KINDS: Readonly<Record<string, DirectoryEntry['type']>> = { f: 'file', d: 'directory', l: 'link' }

/** Files on the other side; paths are absolute. The promises are those of `Environment`. */
export class RemoteFiles {
  readonly #host: RemoteHost
  readonly #flavor: StatFlavor

  constructor(host: RemoteHost, flavor: StatFlavor) {
    this.#host = host
    this.#flavor = flavor
  }

  async read(
    path: string,
    { offset = 0, length }: { readonly offset?: number; readonly length?: number } = {},
  ): Promise<Uint8Array | null> {
    const limit = length === undefined || length === Number.POSITIVE_INFINITY ? null : length
    return this.#look(path, 'read', readScript(checked(path, 'read'), offset, limit))
  }

  async stat(path: string): Promise<FileStat | null> {
    const printed = await this.#look(path, 'look at', statScript(checked(path, 'look at'), this.#flavor))
    return printed && parseStat(printed.toString('utf8'))
  }

  async list(path: string): Promise<readonly DirectoryEntry[] | null> {
    const printed = await this.#look(path, 'list', listScript(checked(path, 'list')))
    if (printed === null) return null
    return printed
      .toString('utf8')
      .split('\0')
      .filter((text) => text !== '')
      .map((text) => ({ name: text.slice(1), type: KINDS[text[0]!] ?? 'other' }) as const)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  async realpath(path: string): Promise<string> {
    const doing = 'follow the links of'
    const { ok, stdout, stderr } = await runScript(this.#host, realpathScript(checked(path, doing)))
    if (!ok) throw remoteFileError(stderr, doing, path)
    return posix.normalize(stdout.toString('utf8'))
  }

  async write(
    path: string,
    bytes: Uint8Array,
    { mode, ifVersion, noLinks }: NonNullable<Parameters<Environment['write']>[3]> = {},
  ): Promise<FileStat> {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const id = randomBytes(6).toString('hex')
    const request = { path: checked(path, 'write'), size: bytes.length, sha256, id }
    const printed = await this.#do(
      path,
      'write',
      writeScript({ ...request, mode, ifVersion, noLinks }, this.#flavor),
      bytes,
    )
    return parseStat(printed.toString('utf8'))
  }

  async mkdir(path: string): Promise<void> {
    await this.#do(path, 'make the directory', mkdirScript(checked(path, 'make the directory')))
  }

  async rename(from: string, to: string, options: LinkOptions = {}): Promise<void> {
    const script = renameScript(checked(from, 'rename'), checked(to, 'rename'), options)
    await this.#do(`${from} to ${to}`, 'rename', script)
  }

  async remove(path: string, options: LinkOptions = {}): Promise<void> {
    await this.#do(path, 'remove', removeScript(checked(path, 'remove'), options))
  }

  /** What is missing is `null`. */
  async #look(path: string, doing: string, script: string): Promise<Buffer | null> {
    const { ok, stdout, stderr } = await runScript(this.#host, script)
    if (ok) return stdout
    if (!stderr.includes('HERMES:') && remoteSystemCode(stderr) === 'ENOENT') return null
    throw remoteFileError(stderr, doing, path)
  }

  async #do(path: string, doing: string, script: string, input?: Uint8Array): Promise<Buffer> {
    const { ok, stdout, stderr } = await runScript(this.#host, script, input)
    if (!ok) throw remoteFileError(stderr, doing, path)
    return stdout
  }
}

function checked(path: string, doing: string): string {
  if (!path.includes('\0')) return path
  throw new HermesError(`Cannot ${doing} ${path.replaceAll('\0', '\\0')}: the path holds a null character.`, {
    code: 'environment.invalid_path',
    details: { path },
  })
}

const FILE_TYPE_BITS = 0o170000
const REGULAR = 0o100000
const DIRECTORY = 0o040000

/** Reads mode (hexadecimal), size, modification and change time in seconds, and inode; the whole text is the version. */
function parseStat(text: string): FileStat {
  const version = text.trimEnd()
  const [mode = '0', size = '0', modified = '0'] = version.split(/\s/)
  const bits = Number.parseInt(mode, 16)
  const kind = bits & FILE_TYPE_BITS
  return {
    type: kind === REGULAR ? 'file' : kind === DIRECTORY ? 'directory' : 'other',
    sizeBytes: Number(size),
    modifiedMs: Math.floor(Number(modified) * 1000),
    mode: bits & 0o7777,
    version,
  }
}
