// The conformance suite that the protocol's authors release, against the gateway with what the suite asks for beside what a home offers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { expect, it } from 'vitest'
import { apiStage } from './__fixtures__/api-stage.js'
import { addSuiteTools } from './__fixtures__/suite-tools.js'

const require = createRequire(import.meta.url)
const SUITE = require.resolve('@modelcontextprotocol/conformance/package.json').replace('package.json', 'dist/index.js')

/** What does not pass, and why. */
const KNOWN: Readonly<Record<string, string>> = {}

it('passes as a server, but for what is argued', async () => {
  const stage = await apiStage({}, { served: async (home) => addSuiteTools(await home()), needsKey: false })
  const folder = await mkdtemp(join(tmpdir(), 'hermes-conformance-'))
  const server = createAdaptorServer({ fetch: stage.api.app.fetch }) as Server
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const run = async (...which: readonly string[]) => {
      const child = spawn(process.execPath, [SUITE, 'server', '--url', url, ...which], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void (output += String(chunk)))
      const [code] = await once(child, 'close')
      return { output, code }
    }
    const { output } = await run('--suite', 'all')
    const results = [...output.slice(output.indexOf('SUMMARY')).matchAll(/^([✓✗]) ([\w/-]+):/gmu)]
    const failed: string[] = []
    // A client of the suite waits for so many seconds, also on a machine that does something else: what failed runs once more, alone.
    for (const [, sign, name] of results)
      if (sign === '✗' && (await run('--scenario', name!)).code !== 0) failed.push(name!)
    expect(failed, output).toEqual(Object.keys(KNOWN))
    expect(results, output).toHaveLength(32)
  } finally {
    server.closeAllConnections()
    server.close()
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
