import { exec } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { CLI, runCli } from '../support/cli.js'
import { GATEWAY, KEY, startGateway } from '../support/gateway.js'

const README = resolve(import.meta.dirname, '../../apps/gateway/README.md')

/** The shell blocks of the README, in order. */
async function shownBlocks(): Promise<readonly string[]> {
  return [...(await readFile(README, 'utf8')).matchAll(/```sh\n([\s\S]*?)```/g)].map((block) => block[1]!)
}

needs(missingPrograms('curl'))('the quick start of the README', () => {
  it.each([
    ['npx @hermes/gateway', [GATEWAY]],
    ['hermes gateway', [CLI, 'gateway']],
  ])('works with %s', async (command, program) => {
    const [start, request] = await shownBlocks()
    expect(start).toContain(command)
    await using temporary = await temporaryHome()
    const cwd = join(temporary.path, 'project')
    await mkdir(cwd)
    const server = await startModelServer([{ text: 'The one for leap years.' }])
    const options = { home: join(temporary.path, 'user', '.hermes'), cwd, program }
    const gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'm'], options)
    try {
      const shown = request!.replace('http://127.0.0.1:8642/v1', gateway.baseUrl)
      const { stdout } = await promisify(exec)(shown, { env: { PATH: process.env['PATH'], API_SERVER_KEY: KEY } })
      expect(JSON.parse(stdout).choices[0].message.content).toBe('The one for leap years.')
      expect(gateway.stdout()).toMatch(
        /^Hermes gateway: http:\/\/127\.0\.0\.1:\d+\/v1 \(bearer key needed\), model m\n$/,
      )
    } finally {
      expect(await gateway.stop()).toBe(0)
      await server.close()
    }
  })
})

it('explains flags and version without starting', async () => {
  await using temporary = await temporaryHome()
  const run = (...args: string[]) =>
    runCli(['gateway', ...args], { home: join(temporary.path, '.hermes'), cwd: dirname(README) })
  expect(await run('--version')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  expect((await run('--help')).stdout).toContain('--allow-loopback-without-key')
})
