import { Writable } from 'node:stream'
import { createServedHome, createSessionHost } from '@hermes/host'
import { serveStreams } from '@hermes/mcp/serve'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, loggerOf, openCli } from '../open-cli.js'

/** `hermes mcp serve`: one client of the Model Context Protocol on standard input and output, until it leaves. */
export async function serveMcp(io: Io, version: string): Promise<number> {
  const runtime = await openCli(io, { yolo: false })
  const host = createSessionHost({ runtime, logger: loggerOf(homeOf(io)) })
  const output = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      io.stdout.write(String(text))
      done()
    },
  })
  try {
    const home = createServedHome({ runtime, host, cwd: io.cwd })
    const served = await serveStreams({ home, version }, { input: io.stdin, output })
    const stopListening = io.onInterrupt(() => {
      void served.close()
      return true
    })
    await served.closed
    stopListening()
    await served.close()
    return EXIT.ok
  } finally {
    await host.close('mcp_close')
    await runtime.close('mcp_close')
  }
}
