import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { createLocalEnvironment, type LocalEnvironmentOptions } from '../local/local-environment.js'
import { testPermit } from '../testing/permit.js'
import { createAskpass } from './sudo.js'

async function open(options: Partial<LocalEnvironmentOptions> = {}, sudo = '#!/bin/sh\nexit 0\n') {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sudo-')))
  for (const folder of ['bin', 'work', 'home']) await mkdir(join(root, folder))
  await writeFile(join(root, 'bin/sudo'), sudo)
  await chmod(join(root, 'bin/sudo'), 0o755)
  const place = { cwd: join(root, 'work'), home: join(root, 'home'), outputDir: join(root, 'output') }
  const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin` }
  const environment = createLocalEnvironment({ ...place, env, ...options })
  onTestFinished(async () => {
    await environment.close()
    await rm(root, { recursive: true, force: true })
  })
  const run = async (command: string, more: { readonly sudoPassword?: string; readonly outside?: true } = {}) => {
    const outside = more.outside ? { outside: true as const } : {}
    const permit = testPermit({ type: 'spawn', command, cwd: environment.cwd(), backend: 'local', ...outside })
    return (await environment.exec(permit, command, more)).output
  }
  return { root, environment, run }
}

it('asks whether sudo would want a password', async () => {
  expect(await (await open()).environment.sudo?.needsPassword()).toBe(false)
  expect(await (await open({}, '#!/bin/sh\nexit 1\n')).environment.sudo?.needsPassword()).toBe(true)
  const without = await open({ env: { PATH: '/nowhere' } })
  expect(await without.environment.sudo?.needsPassword()).toBe(false)
})

it('keeps the helper to this user and takes it away', async () => {
  const { root } = await open()
  const askpass = createAskpass(root, 'secret', join(root, 'bin'))!
  const helper = askpass.env['SUDO_ASKPASS']!
  expect((await stat(helper)).mode & 0o777).toBe(0o700)
  askpass.remove()
  expect((await readdir(root)).filter((name) => name.startsWith('askpass'))).toEqual([])
  expect(createAskpass(root, 'secret', '/nowhere')).toBeNull()
})

it('leaves directory, variables and line numbers of the command alone', async () => {
  const { run, environment } = await open()
  const command = 'mkdir -p in; cd in; export A=1\necho "$LINENO"'
  const usual = await (await open()).run(command)
  expect(await run(command, { sudoPassword: 'secret' })).toBe(usual)
  expect(environment.cwd()).toMatch(/\/in$/)
  expect(await run('echo "$A[$SUDO_ASKPASS]"')).toBe('1[]\n')
})

needs(missingPrograms('bwrap'))('where commands are isolated', () => {
  it('gives the password to one that runs outside alone', async () => {
    const { run } = await open({ isolation: {} })
    expect(await run('echo "[$SUDO_ASKPASS]"', { sudoPassword: 'secret' })).toBe('[]\n')
    expect(await run('"$SUDO_ASKPASS"', { sudoPassword: 'secret', outside: true })).toBe('secret\n')
  })
})
