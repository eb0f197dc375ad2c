import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

const MODULE = join(import.meta.dirname, 'loop-watch.ts')

/** In a process of its own, since that is what ends. */
async function run(script: string) {
  const code = `import(${JSON.stringify(MODULE)}).then(async ({ watchLoop }) => { const end = await watchLoop({ lookEveryMs: 40, strikes: 3 }); ${script} })`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [output, [exitCode, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { output, exitCode, signal }
}

it('ends a process whose event loop stands still, and says so before', async () => {
  const { output, signal } = await run('for (;;);')
  expect(signal).toBe('SIGKILL')
  expect(output).toMatch(/stood still for 0\.04 s\.\n(?:.*\n)*.*the process is ended\.\n$/)
})

it('leaves one alone that does nothing, and keeps none from its end', async () => {
  expect(await run('setTimeout(end, 400)')).toMatchObject({ exitCode: 0, signal: null })
})
