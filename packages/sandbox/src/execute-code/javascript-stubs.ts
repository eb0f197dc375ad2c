import type { ToolDefinition } from '@hermes/contracts/tool'
import { parameterNames } from './python-stubs.js'

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
export function javascriptStubs(definitions: readonly ToolDefinition[]): string {
  return [CLIENT, ...definitions.map(stub)].join('\n')
}

function stub({ name, parameters }: ToolDefinition): string {
  const [tool, names] = [JSON.stringify(name), JSON.stringify(parameterNames(parameters))]
  return `export const ${name.replaceAll('-', '_')} = (...values) => _call(${tool}, named(${names}, values))\n`
}
