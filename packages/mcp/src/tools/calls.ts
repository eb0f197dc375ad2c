import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { loginNeeded } from '../login/login-needed.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { cleanLine } from './clean-text.js'

/** Told of calls as they begin and end, for what a server asks meanwhile. */
export interface Calls {
  during<T>(server: string, context: ToolContext, work: () => Promise<T>): Promise<T>
}

/** What a call rejects with is a line for the model. Abort passes as it is. */
export async function guarded<T>(
  settings: ServerSettings,
  what: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { name, timeoutMs } = settings
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (HermesError.isInstance(error)) throw error
    const missing = await loginNeeded(settings, error)
    if (missing) throw missing
    const { SdkErrorCode } = await import('@modelcontextprotocol/client')
    const { code } = error as { code?: unknown }
    const line =
      code === SdkErrorCode.RequestTimeout
        ? `it did not answer within ${timeoutMs / 1000} s and may still be at work.`
        : code === SdkErrorCode.ConnectionClosed || isAbort(error)
          ? 'the server ended meanwhile; the call may have run.'
          : cleanLine(errorLine(error), 1_000)
    throw new HermesError(`${cleanLine(what, 100)} of the MCP server ${name} failed: ${line}`, {
      code: 'mcp.call_failed',
      details: { server: name },
      cause: error,
    })
  }
}
