import { readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBubblewrap } from '../isolation/find-bubblewrap.js'
import type { IsolationSupport } from '../isolation/isolation-support.js'

/** What the watching thread writes to standard error before it ends the process. */
export const OUT_OF_MEMORY = 'hermes: out of memory'

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
export const BEGUN = 'hermes: begun'

const RUN = `
import { readFileSync, writeSync } from 'node:fs'
writeSync(2, ${JSON.stringify(`${BEGUN}\n`)})
import { Worker } from 'node:worker_threads'
const [url, limits, argument] = process.argv.slice(1)
new Worker(${JSON.stringify(WATCH)}, { eval: true, execArgv: [], env: {}, workerData: JSON.parse(limits) }).unref()
const { confined } = await import(url)
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

// Sources name the files that they become.
const FROM_SOURCES = `
import { registerHooks } from 'node:module'
registerHooks({ resolve: (name, context, next) => next(/^\\..*\\.js$/.test(name) && context.parentURL?.endsWith('.ts') ? name.slice(0, -2) + 'ts' : name, context) })
`

const SEATBELT = '(version 1)(allow default)(deny network*)(deny file-write*)(allow file-write* (literal "/dev/null"))'

/** The command lines that run `confined` of a module in a process of its own, the best walled off first: not every machine allows each. */
export function confinedArgvs(
  module: string,
  {
    argument,
    maxResidentBytes,
    timeoutMs,
  }: { readonly argument: string; readonly maxResidentBytes: number; readonly timeoutMs: number },
  support: IsolationSupport,
  bubblewrap: string | null = findBubblewrap(),
): readonly (readonly [string, ...string[]])[] {
  const file = realpathSync(fileURLToPath(module))
  const limits = { maxBytes: maxResidentBytes, timeoutMs: timeoutMs + AFTER_LIMIT_MS }
  const node = [
    process.execPath,
    // Half of its memory for the heap, so that garbage is collected before it counts. Nothing is written and no program started; of files only code can be read.
    ...['--permission', '--allow-worker', ...codeFolders(file).map((folder) => `--allow-fs-read=${folder}/`)],
    ...['--no-warnings', `--max-old-space-size=${Math.ceil(maxResidentBytes / 2 ** 21)}`],
    ...(file.endsWith('.ts') ? ['--import', `data:text/javascript,${encodeURIComponent(FROM_SOURCES)}`] : []),
    ...['--input-type=module', '--eval', RUN, module, JSON.stringify(limits), argument],
  ]
  return walls(support, bubblewrap).map((wall) => [...wall, ...node] as [string, ...string[]])
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

/** What a command line begins with. The last is none: Node's own permissions hold a program too. */
function walls(support: IsolationSupport, bubblewrap: string | null): readonly (readonly string[])[] {
  if (support.why() !== null) return [[]]
  if (process.platform === 'darwin') return [['/usr/bin/sandbox-exec', '-p', SEATBELT]]
  if (bubblewrap === null) return [[]]
  // Not as process 1: that one could not kill itself.
  const common = ['--die-with-parent', '--cap-drop', 'ALL', '--clearenv']
  const files = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--chdir', '/']
  // A network of its own is what a container most often refuses, although it allows the rest.
  const withNetwork = ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try']
  return [...[['--unshare-all'], withNetwork].map((own) => [bubblewrap, ...own, ...common, ...files, '--']), []]
}
