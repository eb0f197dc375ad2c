import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Logger, silentLogger } from '@hermes/contracts'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../index.js'

const SUDO = `#!/bin/sh
[ "$1" = -A ] || exit 1
shift
[ "$("$SUDO_ASKPASS")" = 'correct horse' ] || exit 1
exec "$@"
`

let server: ModelServer
let temporary: Awaited<ReturnType<typeof temporaryHome>>
let runtime: Runtime
const path = (...names: readonly string[]) => join(temporary.path, ...names)

beforeEach(async () => {
  server = await startModelServer()
  temporary = await temporaryHome()
  for (const folder of ['home/.hermes', 'work', 'bin']) await mkdir(path(folder), { recursive: true })
  await writeFile(path('bin/sudo'), SUDO)
  await chmod(path('bin/sudo'), 0o755)
  await writeFile(path('home/.hermes/config.yaml'), 'approvals: {mode: "off"}\nterminal: {isolation: "off"}\n')
})
afterEach(async () => {
  await runtime.close()
  await server.close()
  await temporary.remove()
})

/** Runs a command that uses sudo and then gives the password away; everything the home and the model got to see of it. */
async function everythingAfter(ask?: Parameters<Runtime['createAgent']>[0]['ask']): Promise<string> {
  const logged: unknown[] = []
  const note = (...entry: readonly unknown[]) => void logged.push(entry)
  const logger: Logger = { ...silentLogger, debug: note, info: note, warn: note, error: note }
  runtime = await openRuntime({
    home: path('home/.hermes'),
    userHome: path('home'),
    env: { PATH: `${path('bin')}:/usr/bin:/bin` },
    cwd: path('work'),
    user: 'ada',
    tempDir: temporary.path,
    logger,
  })
  const command = 'sudo echo became root && "$SUDO_ASKPASS"'
  server.enqueue({ toolCalls: [{ name: 'terminal', args: { command } }] }, { text: 'Done.' })
  const { agent } = await runtime.createAgent({ baseUrl: server.baseUrl, model: 'm', ...(ask ? { ask } : {}) })
  const run = agent.run('Become root.')
  const events: unknown[] = []
  for await (const event of run) events.push(event)
  expect((await run.result).status).toBe('completed')
  const names = await readdir(path('home'), { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile() && entry.name !== '.env')
  const kept = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')))
  return [JSON.stringify([logged, events, server.requests.map(({ body }) => body)]), ...kept].join('\n')
}

it('gives sudo the configured password, which nobody gets to see', async () => {
  await writeFile(path('home/.hermes/.env'), "SUDO_PASSWORD='correct horse'\n", { mode: 0o600 })
  const everything = await everythingAfter()
  expect(everything).toContain('became root\\n[REDACTED]')
  expect(everything).not.toContain('correct horse')
})

it('gives sudo the password a person was asked for, which nobody else gets to see', async () => {
  const requested: unknown[] = []
  const everything = await everythingAfter(async (question) => {
    requested.push(question)
    return { type: 'answered', text: 'correct horse' }
  })
  expect(requested).toMatchObject([{ isSecret: true }])
  expect(everything).toContain('became root\\n[REDACTED]')
  expect(everything).not.toContain('correct horse')
})
