import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLines, needs } from '@hermes/testkit/daemons'
import { afterEach, describe, expect, it } from 'vitest'
import { createIsolationSupport, type IsolationSupport } from '../isolation/isolation-support.js'
import { type ConfinedModule, runConfined } from './run-confined.js'

const module = new URL('__fixtures__/intruder.ts', import.meta.url).href
const isolated = createIsolationSupport()
const notIsolated: IsolationSupport = { why: () => 'not here', failed: () => undefined }

const attempt = (argument: string, target = '', more: Partial<ConfinedModule> = {}) =>
  runConfined({
    ...{ module, argument, bytes: new TextEncoder().encode(target), signal: new AbortController().signal },
    ...{ maxResidentBytes: 150 * 2 ** 20, timeoutMs: 20_000, maxOutputBytes: 1_000_000 },
    ...more,
  })

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-confined-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'secret'), text)
  return join(folder, 'secret')
}

describe.each([
  ['with isolation where there is one', isolated],
  ['without isolation', notIsolated],
])('a confined module, %s', (_, support) => {
  it('gets bytes and gives what it made of them', async () => {
    expect(await attempt('echo', 'naïve', { support })).toEqual({ type: 'done', value: 'NAÏVE' })
  })

  it('reads, writes and starts nothing, and sees no variable', async () => {
    const path = await fileOf('secret')
    expect(await attempt('read', path, { support })).toEqual({ type: 'failed' })
    expect(await attempt('write', path, { support })).toEqual({ type: 'failed' })
    expect(await readFile(path, 'utf8')).toBe('secret')
    expect(await attempt('run', '', { support })).toEqual({ type: 'failed' })
    const { value } = (await attempt('variables', '', { support })) as { readonly value: readonly string[] }
    expect(value.filter((name) => name !== 'PWD')).toEqual([])
  })

  it('ends with its memory, its time, its output and the session', async () => {
    expect(await attempt('fill', '', { support })).toEqual({ type: 'out-of-memory' })
    expect(await attempt('hang', '', { support, timeoutMs: 300 })).toEqual({ type: 'out-of-time' })
    expect(await attempt('talk', '', { support })).toEqual({ type: 'too-long' })
    const stop = new AbortController()
    const running = attempt('hang', '', { support, signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    await expect
      .poll(() => commandLines().filter((line) => line.includes('intruder.ts')), { timeout: 10_000 })
      .toEqual([])
  })
})

needs(isolated.why())('isolated', () => {
  /** A bubblewrap that refuses what its second argument names, as machines do that allow the rest. */
  async function refusing(refused: string): Promise<string> {
    const path = await fileOf(
      `#!/bin/sh\ncase " $* " in *" ${refused} "*) echo "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted" >&2; exit 1;; esac\nexec /usr/bin/bwrap "$@"\n`,
    )
    await chmod(path, 0o755)
    return path
  }

  it.each(['--unshare-all', '--cap-drop'])('a module is read where the machine refuses %s', async (refused) => {
    const bubblewrap = await refusing(refused)
    expect(await attempt('echo', 'a', { support: isolated, bubblewrap })).toEqual({ type: 'done', value: 'A' })
    const path = await fileOf('secret')
    expect(await attempt('write', path, { support: isolated, bubblewrap })).toEqual({ type: 'failed' })
    expect(await attempt('hang', '', { support: isolated, bubblewrap, timeoutMs: 300 })).toEqual({
      type: 'out-of-time',
    })
  })

  it('a module finds what it loads compiled the next time, and can plant nothing there', async () => {
    const compiled = join(await fileOf(''), '..')
    const again = () => attempt('compiled', '', { support: isolated, compiled })
    expect(await again()).toEqual({ type: 'done', value: 'nothing' })
    await expect
      .poll(async () => (await readdir(compiled, { recursive: true })).join('\n'), { timeout: 30_000 })
      .toMatch(/\/whole$/m)
    expect(await again()).toEqual({ type: 'done', value: 'EROFS' })
    expect(await attempt('compiled', '', { support: notIsolated, compiled })).toEqual({
      type: 'done',
      value: 'nothing',
    })
  })

  it('a module that began is not run again, however it ends', async () => {
    const path = await fileOf('')
    const counting = `${path}-bwrap`
    await writeFile(counting, `#!/bin/sh\necho run >> ${path}\nexec /usr/bin/bwrap "$@"\n`, { mode: 0o755 })
    expect(await attempt('read', path, { support: isolated, bubblewrap: counting })).toEqual({ type: 'failed' })
    expect(await readFile(path, 'utf8')).toBe('run\n')
  })

  it('a confined module reaches no port of this machine', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    cleanups.push(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { readonly port: number }
    expect(await attempt('connect', String(port), { support: isolated })).toEqual({ type: 'failed' })
  })
})

it('an abort before the start starts nothing', async () => {
  await expect(attempt('echo', '', { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped')
})
