import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

it('spending of several processes is overshot by one call at most, all together', async () => {
  const home = await temporaryHome()
  const server = await startModelServer()
  onTestFinished(() => server.close())
  server.setHandler(() => ({ text: 'ok', usage: { inputTokens: 90, outputTokens: 10, costUsd: 0.25 } }))
  const config = { model: { default: 'm', base_url: server.baseUrl }, budget: { day: { tokens: 450 } } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const spenders = Array.from({ length: 3 }, () => startSpender(home.path))
  await Promise.all(spenders.map(({ ready }) => ready))
  for (const { begin } of spenders) begin()
  expect(await Promise.all(spenders.map(({ ended }) => ended))).toEqual(Array(3).fill('models.budget_spent'))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  onTestFinished(() => runtime.close())
  const [total] = await (await runtime.storage()).usage.totals()
  expect(total).toMatchObject({ calls: 5, usage: { inputTokens: 450, outputTokens: 50 } })
  expect(server.requests).toHaveLength(5)
}, 60_000)

/** A process that goes on until the budget is spent, and then says with which error. */
function startSpender(home: string) {
  const fixtures = join(import.meta.dirname, '../__fixtures__')
  const flags = [
    '--conditions=@hermes/source',
    `--import=${fixtures}/../../../testkit/src/__fixtures__/load-sources.mjs`,
    `${fixtures}/spend.mjs`,
    home,
  ]
  const child = spawn(process.execPath, flags, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ready = Promise.withResolvers<void>()
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    ready.resolve()
  })
  const ended = once(child, 'close').then(() => lines[1])
  return { ready: ready.promise, begin: () => void child.stdin.write('go\n'), ended }
}
