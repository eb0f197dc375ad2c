import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HermesError } from '@hermes/contracts'
import { findBubblewrap } from '../isolation/find-bubblewrap.js'
import type { IsolationSupport } from '../isolation/isolation-support.js'
import { createIsolationSupport } from '../isolation/isolation-support.js'
import { type CompiledCode, compiledCodeOf, WHOLE } from './compiled-code.js'

/** What one run may use. */
interface ConfinedLimits {
  /** Resident memory of the process, Node's own 40 MB included. */
  readonly maxResidentBytes: number
  readonly timeoutMs: number
  /** JSON of the result, in bytes. */
  readonly maxOutputBytes: number
}

/** Work on bytes that somebody else made. */
export interface ConfinedModule extends ConfinedLimits {
  /**
   * A `file:` address. The module exports `confined(bytes, argument)`, whose result, or what its promise resolves to, is JSON, and may export
   * `prepare(argument)`, which loads what that needs before memory and time are watched. It imports no native code.
   */
  readonly module: string
  readonly bytes: Uint8Array
  readonly argument: string
  /** Abort ends the process and rejects with its reason. */
  readonly signal: AbortSignal
  /** What is known of this machine. Default: a look of its own. */
  readonly support?: IsolationSupport
  /** The bubblewrap that holds the process on Linux; `null` for none. Default: that of the system. */
  readonly bubblewrap?: string | null
  /** The folder below which what it loads is kept compiled; `null` for none. Default: where this process keeps its own code. */
  readonly compiled?: string | null
}

/** What became of it. `failed`: the module threw, or the process ended in another way. */
type ConfinedResult =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed' }
  | { readonly type: 'out-of-memory' }
  | { readonly type: 'out-of-time' }
  | { readonly type: 'too-long' }

/**
 * Runs a module on bytes in a Node process of its own: without variables, without leave to write, to start programs or to read anything
 * but code; where bubblewrap or sandbox-exec work also without network, as far as the machine allows. It ends with its limits, and with this process on Linux.
 *
 * @throws HermesError `environment.spawn_failed`.
 */
export async function runConfined(request: ConfinedModule): Promise<ConfinedResult> {
  const { module, signal, timeoutMs, support = createIsolationSupport(), bubblewrap } = request
  signal.throwIfAborted()
  const stopped = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const compiled = compiledCodeOf(module, request.argument, request.compiled)
  for (const wall of walls(support, bubblewrap)) {
    const result = await runOnce(confinedArgv(wall, request, compiled), request, stopped)
    // What was to hold it failed before it began, so that the next best may.
    if (result === null) continue
    if (result.type === 'done' && isWall(wall) && compiled?.isWhole === false) keepCompiled(wall, request, compiled)
    return result
  }
  return { type: 'failed' }
}

/** Has the next such process find what the module loads compiled. A process that sees no byte of others writes that, and ends with this one on Linux. */
function keepCompiled(wall: Wall, { module, argument }: ConfinedModule, { folder }: CompiledCode): void {
  const [program, ...args] = [
    ...wall(folder),
    ...nodeArgv(module, [`--allow-fs-write=${folder}/`, `--allow-fs-read=${folder}/`]),
    ...['--input-type=module', '--eval', KEEP, module, argument, folder],
  ] as [string, ...string[]]
  const child = spawn(program, args, { cwd: '/', env: {}, stdio: 'ignore' })
  child.on('error', () => undefined)
  child.once('exit', (code) => {
    try {
      if (code === 0) writeFileSync(join(folder, WHOLE), '')
    } catch {
      // The home is full, or gone.
    }
  })
  child.unref()
}

/** `null` where the module was not reached. */
async function runOnce(
  [program, ...args]: readonly [string, ...string[]],
  { bytes, signal, maxOutputBytes }: ConfinedModule,
  stopped: AbortSignal,
): Promise<ConfinedResult | null> {
  // A group of its own: who isolates it may be gone before what it starts is.
  const child = spawn(program, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const stop = () => killGroup(child)
  stopped.addEventListener('abort', stop, { once: true })
  if (stopped.aborted) stop()
  const output = collect(child, maxOutputBytes)
  // It may end before it has read everything.
  child.stdin!.on('error', () => undefined)
  child.stdin!.end(bytes)
  const error = await ended(child)
  stopped.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (stopped.aborted) return { type: 'out-of-time' }
  if (error !== null) throw notStarted(program, error)
  return output.hasBegun() ? output.result(child) : null
}

function ended(child: ChildProcess): Promise<Error | null> {
  return new Promise((resolve) => {
    child.once('error', resolve)
    child.once('close', () => resolve(null))
  })
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function collect(
  child: ChildProcess,
  maxBytes: number,
): { readonly hasBegun: () => boolean; readonly result: (child: ChildProcess) => ConfinedResult } {
  const pieces: Buffer[] = []
  let [length, notes, begun] = [0, '', false]
  child.stdout!.on('data', (piece: Buffer) => {
    length += piece.length
    if (length <= maxBytes) pieces.push(piece)
    else killGroup(child)
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    notes = (notes + text).slice(-10_000)
    begun ||= notes.includes(BEGUN)
  })
  return {
    hasBegun: () => begun,
    result: ({ exitCode }) => {
      if (length > maxBytes) return { type: 'too-long' }
      if (exitCode === 0) return { type: 'done', value: JSON.parse(Buffer.concat(pieces).toString()) }
      const wasMemory = notes.includes(OUT_OF_MEMORY) || notes.includes('heap out of memory')
      return { type: wasMemory ? 'out-of-memory' : 'failed' }
    },
  }
}

const notStarted = (program: string, cause: Error): HermesError =>
  new HermesError(`Cannot start ${program}: ${cause.message}.`, { code: 'environment.spawn_failed', cause })

/** What the watching thread writes to standard error before it ends the process. */
const OUT_OF_MEMORY = 'hermes: out of memory'

const WATCH_EVERY_MS = 10

/** The process ends itself that long after its limit, should who started it be gone. */
const AFTER_LIMIT_MS = 1_000

// A thread of its own: the main one may be busy for good. Kept as text, so that bundles need no further file.
const WATCH = `
const { workerData } = require('node:worker_threads')
setTimeout(() => process.kill(process.pid, 'SIGKILL'), workerData.timeoutMs)
setInterval(() => {
  if (process.memoryUsage.rss() <= workerData.maxBytes) return
  require('node:fs').writeSync(2, ${JSON.stringify(`\n${OUT_OF_MEMORY}\n`)})
  process.kill(process.pid, 'SIGKILL')
}, ${WATCH_EVERY_MS})
`

/** What the process writes to standard error before it looks at any byte of others. */
const BEGUN = 'hermes: begun'

const RUN = `
import { readFileSync, writeSync } from 'node:fs'
writeSync(2, ${JSON.stringify(`${BEGUN}\n`)})
import { enableCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
const [url, limits, argument, compiled] = process.argv.slice(1)
if (compiled) enableCompileCache(compiled)
const { confined, prepare } = await import(url)
await prepare?.(argument)
// Started beside what loads the code it took a third of the processor time of a small document.
new Worker(${JSON.stringify(WATCH)}, { eval: true, execArgv: [], env: {}, workerData: JSON.parse(limits) }).unref()
const output = Buffer.from(JSON.stringify(await confined(readFileSync(0), argument) ?? null))
for (let at = 0; at < output.length; ) {
  try {
    at += writeSync(1, output, at)
  } catch (error) {
    if (error.code !== 'EAGAIN') throw error
  }
}
process.exit(0)
`

const KEEP = `
import { enableCompileCache } from 'node:module'
const [url, argument, compiled] = process.argv.slice(1)
enableCompileCache(compiled)
await (await import(url)).prepare?.(argument)
`

// Sources name the files that they become.
const FROM_SOURCES = `
import { registerHooks } from 'node:module'
registerHooks({ resolve: (name, context, next) => next(/^\\..*\\.js$/.test(name) && context.parentURL?.endsWith('.ts') ? name.slice(0, -2) + 'ts' : name, context) })
`

const SEATBELT = '(version 1)(allow default)(deny network*)(deny file-write*)(allow file-write* (literal "/dev/null"))'

/** The command line that runs `confined` of a module in a process of its own. */
function confinedArgv(
  wall: Wall,
  { module, argument, maxResidentBytes, timeoutMs }: ConfinedModule,
  compiled: CompiledCode | null,
): readonly [string, ...string[]] {
  const limits = { maxBytes: maxResidentBytes, timeoutMs: timeoutMs + AFTER_LIMIT_MS }
  // Node takes what is compiled only from where it may write; the wall keeps it from that.
  const folder = compiled?.isWhole && isWall(wall) ? compiled.folder : null
  const leave = folder === null ? [] : [`--allow-fs-write=${folder}/`, `--allow-fs-read=${folder}/`]
  // Half of its memory for the heap, so that garbage is collected before it counts.
  const node = nodeArgv(module, [
    ...leave,
    '--allow-worker',
    `--max-old-space-size=${Math.ceil(maxResidentBytes / 2 ** 21)}`,
  ])
  const script = ['--input-type=module', '--eval', RUN, module, JSON.stringify(limits), argument, folder ?? '']
  return [...wall(), ...node, ...script] as unknown as readonly [string, ...string[]]
}

/** Node without leave to write or to start programs; of files it reads only code. */
function nodeArgv(module: string, more: readonly string[]): readonly string[] {
  const file = realpathSync(fileURLToPath(module))
  return [
    ...[process.execPath, '--permission', '--no-warnings', ...more],
    ...codeFolders(file).map((folder) => `--allow-fs-read=${folder}/`),
    ...(file.endsWith('.ts') ? ['--import', `data:text/javascript,${encodeURIComponent(FROM_SOURCES)}`] : []),
  ]
}

/** The folder of the package that holds a file, and those of the packages it may import. */
function codeFolders(file: string): string[] {
  const folders = [dirname(file)]
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const names = readdirOr(folder)
    if (names.includes('package.json') && folders.length === 1) folders.push(folder)
    if (names.includes('node_modules')) folders.push(join(folder, 'node_modules'))
  }
  return folders
}

function readdirOr(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** What a command line begins with, so that nothing is written but, where one is named, below a folder. */
type Wall = (writable?: string) => readonly string[]

const NO_WALL: Wall = () => []
const isWall = (wall: Wall): boolean => wall !== NO_WALL

/** The best first: not every machine allows each. The last is none: Node's own permissions hold a program too. */
function walls(support: IsolationSupport, bubblewrap: string | null = findBubblewrap()): readonly Wall[] {
  if (support.why() !== null) return [NO_WALL]
  if (process.platform === 'darwin')
    return [
      (writable) => {
        const writes =
          writable === undefined ? '' : `(allow file-write* (subpath ${JSON.stringify(realpathSync(writable))}))`
        return ['/usr/bin/sandbox-exec', '-p', SEATBELT + writes]
      },
    ]
  if (bubblewrap === null) return [NO_WALL]
  // Not as process 1: that one could not kill itself.
  const common = ['--die-with-parent', '--cap-drop', 'ALL', '--clearenv']
  const files = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--chdir', '/']
  // A network of its own is what a container most often refuses, although it allows the rest.
  const withNetwork = ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try']
  const bwrap =
    (own: readonly string[]): Wall =>
    (writable) => {
      const bound = writable === undefined ? [] : ['--bind', writable, writable]
      return [bubblewrap, ...own, ...common, ...files, ...bound, '--']
    }
  return [bwrap(['--unshare-all']), bwrap(withNetwork), NO_WALL]
}
