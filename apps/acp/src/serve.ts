import { agent, MessageTooLargeError, ndJsonStream } from '@agentclientprotocol/sdk'
import { errorLine } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import { failure } from './failure.js'
import type { ServeOptions } from './server.js'
import { AcpServer, type SteerRequest } from './server.js'
import { toReadable, toWritable } from './streams.js'

/** Serves one client until it leaves or a signal comes; resolves with the exit code: 0, or 1 after a message beyond all size. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const server = new AcpServer(io, options)
  // `session/cancel` comes last: handlers are tried in this order, so it cannot overtake the prompt it ends.
  const app = agent({ name: 'hermes' })
    .onConnect(({ client }) => server.connect(client))
    .onRequest('initialize', ({ params }) => server.initialize(params))
    .onRequest('authenticate', ({ params }) => server.authenticate(params))
    .onRequest('session/new', ({ params }) => server.newSession(params))
    .onRequest('session/load', ({ params }) => server.loadSession(params))
    .onRequest('session/set_mode', ({ params }) => server.setMode(params))
    .onRequest('session/set_config_option', ({ params }) => server.setOption(params))
    .onRequest('session/close', ({ params }) => server.closeSession(params))
    .onRequest('session/prompt', ({ params, signal }) => server.prompt(params, signal))
    .onRequest('_session/steering', toSteerRequest, ({ params }) => server.steer(params))
    .onNotification('session/cancel', ({ params }) => server.cancel(params))
  const connection = app.connect(ndJsonStream(toWritable(io.stdout), toReadable(io.stdin)))
  const stopListening = io.onInterrupt(() => {
    connection.close()
    return true
  })
  await connection.closed
  stopListening()
  await server.close()
  const reason: unknown = connection.signal.reason
  if (!(reason instanceof MessageTooLargeError)) return 0
  io.stderr.write(`hermes acp: ${errorLine(reason)}. The sessions are kept.\n`)
  return 1
}

/** The SDK checks only what the protocol itself has. */
function toSteerRequest(params: unknown): SteerRequest {
  const { sessionId, prompt } = (params ?? {}) as Partial<SteerRequest>
  if (typeof sessionId === 'string' && Array.isArray(prompt)) return { sessionId, prompt }
  throw failure('invalidParams', '_session/steering takes {sessionId, prompt}, the prompt as in session/prompt.')
}
