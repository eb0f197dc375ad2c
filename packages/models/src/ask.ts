import { HermesError } from '@hermes/contracts'
import type { CallScope, ModelClient, ModelFinish, ModelRequest, StreamOptions } from '@hermes/contracts/model'

/** Asks once and gives the complete answer. Rejects as the client's stream does; abort ends the call. */
export async function askModel(
  client: ModelClient,
  request: Omit<ModelRequest, 'model'>,
  options: StreamOptions & CallScope,
): Promise<ModelFinish> {
  for await (const event of client.stream(request, options)) if (event.type === 'finish') return event
  throw new HermesError('The model client ended without an answer.', { code: 'models.failed' })
}
