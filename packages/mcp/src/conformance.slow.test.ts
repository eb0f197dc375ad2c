// The conformance suite that the protocol's authors release, with Hermes as the client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runScenario } from './__fixtures__/conformance-client.js'

const require = createRequire(import.meta.url)
const COMMAND = fileURLToPath(new URL('./__fixtures__/conformance-command.mjs', import.meta.url))

/** What does not pass, and why. */
const KNOWN = {
  // Its metadata names an issuer other than where it stands, which RFC 8414 (3.3) and the SDK refuse.
  'auth/2025-03-26-oauth-metadata-backcompat': 'refused',
  // Tokens of one company's directory exchanged for those of another: nobody here has such a directory to be asked for.
  'auth/cross-app-access-complete-flow': 'not built',
}
/** Wants to be asked again within 200 ms of a moment, which a busy machine does not keep: it runs in the soak. */
const ON_THE_CLOCK = 'sse-retry'

/** Runs the scenarios that commands of the suite hand over at `socket`, each in its answer: why it failed, or nothing. */
async function serveScenarios(socket: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, async (connection) => {
    connection.on('error', () => undefined)
    const scenario = JSON.parse(await text(connection))
    connection.end(
      await runScenario(scenario).then(
        () => '',
        (error: Error) => error.message || 'It failed.',
      ),
    )
  })
  server.listen(socket)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}

it('passes as a client, but for what is argued', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-conformance-run-'))
  try {
    const socket = join(folder, 'scenarios')
    await serveScenarios(socket)
    const suite = require
      .resolve('@modelcontextprotocol/conformance/package.json')
      .replace('package.json', 'dist/index.js')
    const command = `${process.execPath} ${COMMAND} ${socket}`
    const args = ['client', '--suite', 'all', '--timeout', '240000', '--command', command]
    const child = spawn(process.execPath, [suite, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void (output += String(chunk)))
    await once(child, 'close')
    const results = [...output.slice(output.indexOf('SUITE SUMMARY')).matchAll(/^([✓✗]) ([\w/-]+):/gmu)]
    expect(results).toHaveLength(26)
    const failed = results.flatMap(([, sign, name]) => (sign === '✗' ? [name!] : []))
    const isTimed = process.env['HERMES_TEST_CLI_PROCESS'] !== '1'
    expect(failed.filter((name) => !(isTimed && name === ON_THE_CLOCK)).sort()).toEqual(Object.keys(KNOWN))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 300_000)
