import { isValueTooDeep } from '@hermes/contracts'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** As the protocol numbers it. */
const INTERNAL_ERROR = -32603

/**
 * Has no message through that is nested deeper than anything means: what walks it by calling itself would fail, and say so in words of the
 * machine. An answer becomes an error that says it; a request or a notice comes without what it brought.
 */
export function leaveOutDeep(transport: Transport): void {
  let take: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => take,
    set: (listener: Transport['onmessage']) => {
      take = listener && ((message, extra) => listener(isValueTooDeep(message) ? flat(message) : message, extra))
    },
  })
}

function flat(message: JSONRPCMessage): JSONRPCMessage {
  const { id, method } = message as { readonly id?: string | number; readonly method?: string }
  const isNamed = typeof id === 'string' || typeof id === 'number'
  if (typeof method === 'string') return { jsonrpc: '2.0', ...(isNamed ? { id } : {}), method } as JSONRPCMessage
  const error = { code: INTERNAL_ERROR, message: 'its answer is nested more than 200 deep' }
  return { jsonrpc: '2.0', ...(isNamed ? { id } : {}), error } as JSONRPCMessage
}
