import type { Message } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelRequest, Transport } from '@hermes/contracts/model'

const PREFIX = 'hermes_'

/**
 * The transport with other names on the wire for tools whose names the endpoint keeps for itself. Who uses it sees the usual ones.
 */
export function renameTools(transport: Transport, reserved: readonly string[]): Transport {
  if (reserved.length === 0) return transport
  const out = (name: string) => (reserved.includes(name) ? `${PREFIX}${name}` : name)
  const wireNames = new Set(reserved.map(out))
  const back = (name: string) => (wireNames.has(name) ? name.slice(PREFIX.length) : name)
  return {
    api: transport.api,
    stamp: transport.stamp,
    cacheLifetimeMs: (request) => transport.cacheLifetimeMs?.(request) ?? null,
    ...(transport.reset ? { reset: () => transport.reset?.() } : {}),
    async *stream(request, options) {
      for await (const event of transport.stream(renameRequest(request, out), options)) yield renameEvent(event, back)
    },
  }
}

function renameRequest(request: ModelRequest, rename: (name: string) => string): ModelRequest {
  const { toolChoice } = request
  return {
    ...request,
    ...(typeof toolChoice === 'object' ? { toolChoice: { name: rename(toolChoice.name) } } : {}),
    tools: request.tools.map((tool) => ({ ...tool, name: rename(tool.name) })),
    messages: request.messages.map((message) => renameMessage(message, rename)),
  }
}

function renameMessage<M extends Message>(message: M, rename: (name: string) => string): M {
  switch (message.role) {
    case 'tool':
      return rename(message.toolName) === message.toolName
        ? message
        : { ...message, toolName: rename(message.toolName) }
    case 'assistant': {
      const renamed = message.content.map((part) =>
        part.type === 'tool-call' && rename(part.name) !== part.name ? { ...part, name: rename(part.name) } : part,
      )
      return renamed.every((part, index) => part === message.content[index])
        ? message
        : { ...message, content: renamed }
    }
    case 'system':
    case 'user':
      return message
    default:
      return message satisfies never
  }
}

function renameEvent(event: ModelEvent, rename: (name: string) => string): ModelEvent {
  if (event.type === 'tool-call-delta' && event.name !== undefined) return { ...event, name: rename(event.name) }
  if (event.type === 'finish') return { ...event, message: renameMessage(event.message, rename) }
  return event
}

const MAX_CHARS = 64

/** The name of a called tool in the form that servers read again: a model may have made one up that they refuse. */
export function wireToolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, MAX_CHARS) || '_'
}
