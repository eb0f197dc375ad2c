import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolDefinition } from '@hermes/contracts/tool'
import { codeFolder, codeFolderIn } from '../local/code-folder.js'
import { processStartTime } from '../processes/process-tree.js'
import { javascriptStubs } from './javascript-stubs.js'
import type { Language } from './language.js'
import { pythonStubs } from './python-stubs.js'
import { scriptDefinitions } from './script-tools.js'

/** Systems differ in how long the path of a socket may be; this fits all. */
const MAX_SOCKET_PATH_BYTES = 103
const ABANDONED_AFTER_MS = 3_600_000

/** A folder for one program, open to this user only. */
export interface ProgramFolder {
  readonly path: string
  readonly socket: string
  remove(): Promise<void>
}

/** Makes a folder with the module `hermes_tools` for `definitions`. */
export async function makeProgramFolder(options: {
  readonly tempDir: string
  readonly language: Language
  readonly definitions: readonly ToolDefinition[]
}): Promise<ProgramFolder> {
  const base = shortEnough(options.tempDir)
  const path = await mkdtemp(join(codeFolder(base) ?? base, `${process.pid}-`))
  const stubs = scriptDefinitions(options.definitions)
  if (options.language === 'python') await writeFile(join(path, 'hermes_tools.py'), pythonStubs(stubs))
  else {
    const module = join(path, 'node_modules', 'hermes_tools')
    await mkdir(module, { recursive: true })
    const manifest = { name: 'hermes_tools', type: 'module', exports: './index.js' }
    await Promise.all([
      writeFile(join(module, 'package.json'), JSON.stringify(manifest)),
      writeFile(join(module, 'index.js'), javascriptStubs(stubs)),
    ])
  }
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, socket: join(path, 'rpc.sock'), remove }
}

function shortEnough(tempDir: string): string {
  const longest = join(codeFolderIn(tempDir), '1234567-XXXXXX', 'rpc.sock')
  return Buffer.byteLength(longest) > MAX_SOCKET_PATH_BYTES ? '/tmp' : tempDir
}

/** Removes the folders of agents that crashed. Young ones stay: whose process is not seen may live in another container. */
export async function removeAbandoned(tempDir: string, nowMs: number): Promise<void> {
  const base = codeFolderIn(shortEnough(tempDir))
  const names = await readdir(base).catch(() => [])
  for (const name of names) {
    const owner = /^(\d+)-\w{6}$/.exec(name)?.[1]
    if (owner === undefined || processStartTime(Number(owner)) !== null) continue
    const path = join(base, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }))
    // Those of other users are not ours to remove, and cannot be.
    if (nowMs - mtimeMs > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
