import { RequestError } from '@agentclientprotocol/sdk'
import { errorLine, HermesError } from '@hermes/contracts'

/** JSON-RPC and ACP error codes. */
const CODES = {
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
}

/** An error whose message is one line for a person. */
export function failure(
  kind: keyof typeof CODES,
  line: string,
  data?: Readonly<Record<string, unknown>>,
): RequestError {
  return new RequestError(CODES[kind], line, data)
}

/** Anything thrown as the error a client gets: one line, the stable code of Hermes in its data, no stack. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  const code = HermesError.isInstance(error) ? error.code : 'acp.failed'
  return failure(isSetup(code) ? 'authRequired' : 'internal', errorLine(error), { code })
}

/** Whether a key or a model has to be set up before anything can be asked. */
function isSetup(code: string): boolean {
  return code === 'models.no_key' || code === 'models.no_model'
}
