import type { Io, Output } from '@hermes/runtime/app'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from './serve.js'

it('says in one line why it does not start, also when it is to read its configuration anew meanwhile', async () => {
  const { path, remove } = await temporaryHome()
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(async () => {
    process.off('unhandledRejection', note)
    await remove()
  })
  const written: string[] = []
  const output: Output = {
    ...{ isTTY: false, colors: false, columns: () => 80, rows: () => 24 },
    ...{ onResize: () => () => undefined, write: (text: string) => void written.push(text) },
  }
  const onSignal: Io['onSignal'] = (signal, handler) => {
    if (signal === 'SIGHUP') handler()
    return () => undefined
  }
  const io: Io = {
    ...{ stdin: { isTTY: false } as NodeJS.ReadStream, stdout: output, stderr: output, env: {}, user: 'me' },
    ...{ nodePath: process.execPath, script: '', onSignal, onInterrupt: () => () => undefined },
    ...{ cwd: path, userHome: path, tempDir: path },
  }
  const flags = { host: undefined, port: undefined, cwd: 'none', allowLoopbackWithoutKey: false, agent: {} }
  expect(await serve(io, { flags, argv: [], version: '0' })).toBe(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toEqual([expect.stringMatching(/^hermes gateway: --cwd .*none cannot be used: .*\n$/)])
  expect(unhandled).toEqual([])
})
