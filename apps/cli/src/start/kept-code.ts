import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** A start is over by then, and V8 has thrown nothing of it away. */
const KEPT_AFTER_MS = 60_000
const UNUSED_AFTER_MS = 7 * 24 * 3_600_000
const PREFIX = 'hermes-'
const SUM_BYTES = 32

type Load = (path: string) => Promise<unknown>
type Need = (name: string) => object
type Start = (url: string, load: Load, beside: Readonly<Record<string, object>>) => Need

/**
 * Runs the script beside the module `url` and gives back what it does. What V8 compiled of it is kept beside what Node keeps of modules, once
 * per version of Node and kind of start, and read the next time. A file that somebody else could have written is not read; one that cannot
 * be read or written is as none.
 */
export function runKept(name: string, url: string, load: Load, beside: Readonly<Record<string, object>>): Need {
  const filename = fileURLToPath(new URL(name, url))
  const directory = getCompileCacheDir?.()
  const file = directory === undefined ? null : join(directory, `${PREFIX}${kindOf(process.argv[2])}-${name}.bin`)
  const cachedData = file === null ? null : readKept(file)
  const script = new Script(readFileSync(filename, 'latin1'), { filename, ...(cachedData ? { cachedData } : {}) })
  if (file !== null && (!cachedData || script.cachedDataRejected === true)) keepLater(script, file)
  return (script.runInThisContext() as Start)(url, load, beside)
}

/** A subcommand runs other functions than a conversation does, and either would be slowed by what the other has. */
function kindOf(argument: string | undefined): 'chat' | 'command' {
  return argument === undefined || argument === 'chat' || !/^[a-z][a-z-]*$/.test(argument) ? 'chat' : 'command'
}

/** `null` where there is none, or one that this user did not write, or that is damaged: V8 would run that. */
function readKept(file: string): Buffer | null {
  try {
    const handle = openSync(file, 'r')
    try {
      const { uid, mode } = fstatSync(handle)
      if (process.getuid && (uid !== process.getuid() || (mode & 0o022) !== 0)) return null
      const bytes = readFileSync(handle)
      const code = bytes.subarray(SUM_BYTES)
      return bytes.length > SUM_BYTES && sumOf(code).equals(bytes.subarray(0, SUM_BYTES)) ? code : null
    } finally {
      closeSync(handle)
    }
  } catch {
    return null
  }
}

const sumOf = (code: Buffer) => hash('sha256', code, 'buffer')

function keepLater(script: Script, file: string): void {
  let isDone = false
  const keep = () => {
    if (isDone) return
    isDone = true
    try {
      writeKept(file, script.createCachedData())
    } catch {
      // The next start compiles again.
    }
  }
  setTimeout(keep, KEPT_AFTER_MS).unref()
  // A start that failed has compiled half of what the next one needs.
  process.once('exit', (code) => {
    if (code === 0) keep()
  })
}

function writeKept(file: string, code: Buffer): void {
  const temporary = `${file}.${randomUUID()}`
  try {
    writeFileSync(temporary, Buffer.concat([sumOf(code), code]), { flag: 'wx', mode: 0o600, flush: true })
    renameSync(temporary, file)
    removeOlder(file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Those of other versions of this program. One that was written within a week may be in use too. */
function removeOlder(file: string): void {
  const directory = join(file, '..')
  const kind = /^hermes-\w+-\w+-/.exec(basename(file))![0]
  for (const name of readdirSync(directory).filter((one) => one.startsWith(kind) && !file.endsWith(one))) {
    const other = join(directory, name)
    if (Date.now() - statSync(other).mtimeMs > UNUSED_AFTER_MS) rmSync(other, { force: true })
  }
}
