import { createRequire } from 'node:module'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { WireLine } from './acp.js'

const schema = createRequire(import.meta.url)('@agentclientprotocol/sdk/schema/v1/schema.json') as {
  readonly $defs: Readonly<Record<string, { readonly 'x-method'?: string; readonly 'x-side'?: string }>>
}
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).addSchema(schema, 'acp')

type Shape = 'Request' | 'Response' | 'Notification'

/** The validators of every method of the protocol, from the schema that ships with the official SDK. */
const METHODS = new Map<string, Partial<Record<Shape, ValidateFunction>>>()
for (const [name, definition] of Object.entries(schema.$defs)) {
  const method = definition['x-method']
  const shape = /(Request|Response|Notification)$/.exec(name)?.[1] as Shape | undefined
  if (method === undefined || shape === undefined) continue
  METHODS.set(method, { ...METHODS.get(method), [shape]: ajv.getSchema(`acp#/$defs/${name}`)! })
}

interface Message {
  readonly jsonrpc?: unknown
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown }
}

/** What the server said against the protocol, one line each. Lines of the client only tell which method an answer belongs to. */
export function wireViolations(wire: readonly WireLine[]): readonly string[] {
  const requested = new Map<unknown, string>()
  return wire.flatMap(({ from, line }) => {
    const message = parse(line)
    if (from === 'client') {
      if (message?.method !== undefined && message.id !== undefined) requested.set(message.id, message.method)
      return []
    }
    if (message?.jsonrpc !== '2.0') return [`not JSON-RPC: ${line.slice(0, 200)}`]
    if (message.method !== undefined)
      return check(message.method, message.id === undefined ? 'Notification' : 'Request', message.params)
    if (message.error) return checkError(message, line)
    const method = requested.get(message.id)
    return method === undefined
      ? [`answer to nothing: ${line.slice(0, 200)}`]
      : check(method, 'Response', message.result)
  })
}

function parse(line: string): Message | null {
  try {
    return JSON.parse(line) as Message
  } catch {
    return null
  }
}

function check(method: string, shape: Shape, value: unknown): readonly string[] {
  const validate = METHODS.get(method)?.[shape]
  if (!validate) return [`${method} is no ${shape.toLowerCase()} of the protocol`]
  if (validate(value)) return []
  return (validate.errors ?? []).slice(0, 3).map((error) => `${method}: ${error.instancePath} ${error.message}`)
}

function checkError({ error }: Message, line: string): readonly string[] {
  const isFine = Number.isInteger(error?.code) && typeof error?.message === 'string' && !error.message.includes('\n')
  return isFine ? [] : [`not an error object with one line: ${line.slice(0, 200)}`]
}
