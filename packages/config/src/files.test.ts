import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  appendPermission,
  homeLayout,
  loadConfig,
  loadPermissions,
  loadSecrets,
  readText,
  setConfigValue,
  setSecret,
} from './index.js'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
})
afterEach(() => rm(home, { recursive: true }))

const what = 'it is a pipe, socket or device, not a file'

it('reads no file of a home without end: one that is a device is a problem of one line', async () => {
  const { config, permissions, env } = homeLayout(home)
  for (const file of [config, permissions, env]) await symlink('/dev/zero', file)
  expect(await loadConfig({ home, env: {} })).toMatchObject({
    source: 'defaults',
    problems: [
      {
        message: `Cannot read ${config}: ${what}. The defaults are used; nothing was overwritten. Until it is fixed, every action asks.`,
      },
    ],
  })
  expect(await loadPermissions({ home })).toMatchObject({
    rules: { '*': 'ask' },
    problems: [{ message: `Cannot read ${permissions}: ${what}. Until it is fixed, every action asks.` }],
  })
  expect((await loadSecrets({ home, env: {} })).problems).toMatchObject([{ message: `Cannot read ${env}: ${what}` }])
})

it('changes no such file either', async () => {
  const { config, permissions, env } = homeLayout(home)
  for (const file of [config, permissions, env]) await symlink('/dev/zero', file)
  const changes = [
    setConfigValue({ home, key: 'agent.max_turns', value: '9' }),
    appendPermission({ home, pattern: '*', decision: 'ask' }),
    setSecret({ home, name: 'A_KEY', value: 'x' }),
  ]
  for (const [at, change] of changes.entries())
    await expect(change).rejects.toMatchObject({
      code: 'config.unreadable',
      message: `Cannot read ${[config, permissions, env][at]}: ${what}.`,
    })
})

it('reads nothing of a file that is far too large', async () => {
  const file = join(home, 'large')
  await writeFile(file, '')
  await truncate(file, 64_000_001)
  await expect(readText(file)).rejects.toThrow('it has 64000001 bytes, more than 64000000')
})
