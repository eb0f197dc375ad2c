import type { Readable, Writable } from 'node:stream'
import { createHomeServer, type HomeServerOptions, WaitingRuns } from './home-server.js'

/** Serves one client over a pair of streams, whichever protocol it speaks. Resolves once it has left, or `close` was called. */
export async function serveStreams(
  options: Omit<HomeServerOptions, 'waiting'>,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<{ readonly closed: Promise<void>; close(): Promise<void> }> {
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const waiting = new WaitingRuns()
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(input, output)
  const handle = serveStdio(() => createHomeServer({ ...options, waiting }), { transport })
  input.once('end', resolve).once('close', resolve).once('error', resolve)
  return {
    closed,
    close: async () => {
      await handle.close()
      resolve()
    },
  }
}
