import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { EVERYDAY_COMMANDS, LACKING_PROGRAMS } from '@hermes/testkit/isolation-corpus'
import { expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { isolated } from './__fixtures__/isolated.js'
import { probeIsolation } from './isolation-support.js'

needs((await probeIsolation()) ?? missingPrograms('git'))('isolated', () => {
  it(`${EVERYDAY_COMMANDS.length} everyday commands work, one after the other`, async () => {
    const server = createServer((_request, response) => response.end('served'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { run } = await harness(() => isolated())
    const lacking = (await run(LACKING_PROGRAMS)).output.split('\n').filter((name) => name !== '')
    const failed: string[] = []
    let count = 0
    for (const command of EVERYDAY_COMMANDS) {
      if (lacking.some((name) => new RegExp(`(^|[\\s(])${name} `).test(command))) continue
      const text = command.replaceAll('PORT', String(port)).replaceAll('NODE', dirname(process.execPath))
      const { exitCode, output } = await run(text, { timeoutMs: 20_000 })
      count++
      if (exitCode !== 0) failed.push(`${command}\n${output}`)
    }
    expect(failed).toEqual([])
    expect(count).toBeGreaterThanOrEqual(EVERYDAY_COMMANDS.length - 11)
  })

  it('commands that need more say so in the words of the system', async () => {
    const { run, environment } = await harness(() => isolated())
    const { output, exitCode } = await run(`echo x >> ${environment.resolve('~/.bashrc')}`)
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/Read-only file system/)])
  })
})
