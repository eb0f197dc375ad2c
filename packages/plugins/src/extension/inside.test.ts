import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

// In a process of its own: the test runner hears of what nobody caught too.

const PLUGIN = (port: number) => `
import { part } from './part.mjs'
import required from './part.cjs'
class Store {
  #kept = 'kept'
  read() {
    void fetch('http://127.0.0.1:${port}/')
    return this.#kept
  }
}
export default {
  name: 'faulty',
  setup(api) {
    const tool = (name, execute) => api.tools.add({ name, execute })
    tool('parts', async () => part + ' ' + required + ' ' + (await import('./part.mjs')).part)
    tool('timer', () => void setTimeout(() => { throw new Error('of a timer') }, 1))
    tool('floats', () => void Promise.reject(new Error('of a tool')))
    tool('deep', async () => new Store().read())
    tool('refused', (context) => void context.refused())
    tool('mistaken', (context) => void context.mistaken())
    api.factories.add('memory', 'shelf', () => ({ name: 'shelf', close() {} }))
    return () => 'ended'
  },
}
`

async function runInside(...more: readonly string[]) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inside-')))
  onTestFinished(() => rm(folder, { recursive: true }))
  // Nobody listens there any more.
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  await writeFile(join(folder, 'index.mjs'), PLUGIN(port))
  await writeFile(join(folder, 'part.mjs'), "export const part = 'old'\n")
  await writeFile(join(folder, 'part.cjs'), "module.exports = 'old'\n")
  const fixtures = join(import.meta.dirname, '__fixtures__')
  const loader = join(fixtures, '../../../../testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(fixtures, 'run-inside.mjs'), folder, ...more]
  return new Promise<{ readonly code: unknown; readonly lines: readonly string[]; readonly stderr: string }>(
    (resolve) =>
      execFile(process.execPath, args, { encoding: 'utf8' }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, lines: stdout.trim().split('\n'), stderr }),
      ),
  )
}

it('what a plugin inside leaves uncaught switches it off and ends nothing; loaded again it is on, with all its files as they are now', async () => {
  const { code, lines, stderr } = await runInside()
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const off = 'Plugin faulty left an error uncaught and is off until Hermes starts again.'
  expect(lines).toEqual([
    ...[`timer undefined: ${off} of a timer`, 'plugins.off'],
    ...[`floats undefined: ${off} of a tool`, 'plugins.off'],
    ...[`deep kept: ${off} fetch failed`, 'plugins.off'],
    ...[`refused undefined: ${off} Not permitted.`, 'plugins.off'],
    ...['new new new shelf', 'alive'],
  ])
})

it('a mistake of Hermes in work that a plugin began ends the process as ever', async () => {
  const { code, lines, stderr } = await runInside('mistaken')
  expect(code).toBe(1)
  expect(lines).not.toContain('alive')
  expect(stderr).toContain('TypeError: of Hermes')
})
