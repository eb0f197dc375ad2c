import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolDefinition } from '@hermes/contracts/tool'
import { codeFolder, codeFolderIn } from '../local/code-folder.js'
import { processStartTime } from '../processes/process-tree.js'
import type { Language } from './language.js'
import { scriptDefinitions } from './program-calls.js'
import { parameterNames, pythonStubs } from './python-stubs.js'

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

// One connection; answers find their calls by number. It keeps the program alive only while a call is under way.
const CLIENT = `// Tools of this session. A call gives its result, or { error } when it failed.
import { connect } from 'node:net'

let connection
let count = 0
const open = new Map()

function connected() {
  if (connection) return connection
  connection = connect(process.env.HERMES_RPC_SOCKET)
  connection.setEncoding('utf8')
  let rest = ''
  connection.on('data', (text) => {
    const lines = (rest + text).split('\\n')
    rest = lines.pop()
    for (const line of lines) {
      const { id, result } = JSON.parse(line)
      open.get(id)?.resolve(result)
      open.delete(id)
      if (open.size === 0) connection.unref()
    }
  })
  connection.on('error', () => undefined)
  connection.on('close', () => {
    for (const { reject } of open.values()) reject(new Error('Agent process disconnected'))
    open.clear()
    connection = undefined
  })
  return connection
}

export function _call(tool, args) {
  return new Promise((resolve, reject) => {
    const id = ++count
    open.set(id, { resolve, reject })
    connected().ref()
    connection.write(JSON.stringify({ id, tool, args }) + '\\n')
  })
}

const isOptions = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const named = (names, values) =>
  values.length === 1 && isOptions(values[0])
    ? values[0]
    : Object.fromEntries(names.flatMap((name, at) => (at < values.length ? [[name, values[at]]] : [])))
`

/** The module `hermes_tools` for JavaScript: one function for each definition, with its parameters as one object or by position. */
function javascriptStubs(definitions: readonly ToolDefinition[]): string {
  return [CLIENT, ...definitions.map(stub)].join('\n')
}

function stub({ name, parameters }: ToolDefinition): string {
  const [tool, names] = [JSON.stringify(name), JSON.stringify(parameterNames(parameters))]
  return `export const ${name.replaceAll('-', '_')} = (...values) => _call(${tool}, named(${names}, values))\n`
}
