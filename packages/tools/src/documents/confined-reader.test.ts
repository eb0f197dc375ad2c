import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createReadFileTool } from '../index.js'
import { pdf } from './__fixtures__/documents.js'

interface Reader {
  readonly args: readonly string[]
  /** The TCP sockets that it can see. */
  readonly sockets: string
}

/** The process that reads a document: of Node, with the module that extracts text. `null` where none runs. */
function reader(): Reader | null {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      if (args[0] === process.execPath && args.some((arg) => arg.endsWith('/extract-text.ts')))
        return { args, sockets: readFileSync(`/proc/${pid}/net/tcp`, 'utf8') }
    } catch {
      // It is gone.
    }
  }
  return null
}

// `/proc` shows what a process sees of the network.
needs(process.platform === 'linux' ? await probeIsolation() : 'not Linux')('a document', () => {
  it('is read where no port of this machine can be reached, in 512 MB and 20 s', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { readonly port: number }
    const listening = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`
    expect(readFileSync('/proc/self/net/tcp', 'utf8')).toContain(listening)

    const { folder, environment } = await temporaryEnvironment()
    await writeFile(join(folder, 'long.pdf'), pdf(['Again'], 10_000))
    const stop = new AbortController()
    const context = createToolContext({ environment, signal: stop.signal })
    const reading = call(createReadFileTool(), { path: 'long.pdf' }, context)
    try {
      let found: Reader | null = null
      await expect.poll(() => (found = reader()), { timeout: 10_000, interval: 5 }).not.toBeNull()
      expect(found!.sockets).toMatch(/^ +sl /)
      expect(found!.sockets).not.toContain(listening)
      const [limits] = found!.args.filter((arg) => arg.startsWith('{"maxBytes"'))
      // A second later the process ends itself.
      expect(JSON.parse(limits ?? '')).toEqual({ maxBytes: 512 * 2 ** 20, timeoutMs: 20_000 + 1_000 })
    } finally {
      stop.abort(new Error('enough'))
      await reading.catch(() => undefined)
    }
  })
})
