import { isJsonObject } from '@hermes/contracts'
import type { ToolDefinition } from '@hermes/contracts/tool'

// Each thread has a connection of its own, so that calls of several threads overlap; a forked child gets fresh ones.
const CLIENT = `"""Tools of this session. A call gives its result, or {"error": "..."} when it failed."""
import json
import os
import socket
import threading

_local = threading.local()


def _connection():
    if getattr(_local, "pid", None) != os.getpid():
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(os.environ["HERMES_RPC_SOCKET"])
        _local.connection, _local.reader, _local.pid = connection, connection.makefile("rb"), os.getpid()
    return _local.connection, _local.reader


def _call(tool, args):
    request = json.dumps({"tool": tool, "args": {k: v for k, v in args.items() if v is not None}}) + "\\n"
    try:
        connection, reader = _connection()
        connection.sendall(request.encode())
        line = reader.readline()
    except OSError:
        line = b""
    if not line.endswith(b"\\n"):
        raise RuntimeError("Agent process disconnected")
    return json.loads(line)["result"]
`

// prettier-ignore
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

/** The module `hermes_tools` for Python: one function for each definition, with its parameters by position or name. */
export function pythonStubs(definitions: readonly ToolDefinition[]): string {
  return [CLIENT, ...definitions.map(stub)].join('\n\n')
}

function stub({ name, description, parameters }: ToolDefinition): string {
  const names = parameterNames(parameters).filter((one) => /^[A-Za-z_]\w*$/.test(one) && !KEYWORDS.has(one))
  const required = Array.isArray(parameters['required']) ? parameters['required'] : []
  const list = names.map((one) => (required.includes(one) ? one : `${one}=None`))
  const args = names.map((one) => `${JSON.stringify(one)}: ${one}`)
  // A parameter of the tool may have this name itself, and a function has each once.
  let others = 'more'
  while (names.includes(others)) others = `_${others}`
  const signature = [...list, `**${others}`].join(', ')
  return `def ${name}(${signature}):\n    ${JSON.stringify(firstLine(description))}\n    return _call(${JSON.stringify(name)}, {${[...args, `**${others}`].join(', ')}})\n`
}

/** Required ones first, both in the order of the schema. */
export function parameterNames(parameters: ToolDefinition['parameters']): readonly string[] {
  const { properties, required } = parameters
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const first = Array.isArray(required) ? required : []
  return [...names.filter((name) => first.includes(name)), ...names.filter((name) => !first.includes(name))]
}

function firstLine(text: string): string {
  return text.split('\n')[0]!.toWellFormed()
}
