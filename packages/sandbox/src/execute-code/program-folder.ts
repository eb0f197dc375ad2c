import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolDefinition } from '@hermes/contracts/tool'
import { javascriptStubs } from './javascript-stubs.js'
import type { Language } from './language.js'
import { pythonStubs } from './python-stubs.js'
import { scriptDefinitions } from './script-tools.js'

/** Systems differ in how long the path of a socket may be; this fits all. */
const MAX_SOCKET_PATH_BYTES = 103

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
  const path = await mkdtemp(prefix(options.tempDir))
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

/** Made with mode 0700 by the system. */
function prefix(tempDir: string): string {
  const wanted = join(tempDir, 'hermes-code-')
  return Buffer.byteLength(`${wanted}XXXXXX/rpc.sock`) > MAX_SOCKET_PATH_BYTES ? '/tmp/hermes-code-' : wanted
}
