import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandContext, CommandTable } from '@hermes/contracts/extension'
import { openCredentialStore } from '@hermes/credential-pool'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let place: TemporaryHome
let runtime: Runtime
const config = () => join(place.path, 'config.yaml')
beforeEach(async () => {
  place = await temporaryHome()
  await writeFile(
    config(),
    'agent:\n  max_turns: 7\nmoa: {presets: {careful: {reference_models: [{model: a}, {model: b}]}}}\nmodel:\n  api_key: canary-key\n  extra: {env: {PAT: canary-env}, x-api-key: canary-header}\n',
  )
  const folders = { home: place.path, userHome: place.path, cwd: place.path, tempDir: place.path }
  runtime = await openRuntime({ ...folders, env: {}, user: 'me' })
})
afterEach(async () => {
  await runtime.close()
  await place.remove()
})

const run = async (name: string, args = {}, session: CommandContext['session'] = null) => {
  const { item } = runtime.extensions.list('command').find((one) => one.item.name === name)!
  return item.run(args, { session, cwd: place.path } as unknown as CommandContext)
}

it('/config shows what is set without keys, one value, and changes one in the file', async () => {
  expect(JSON.stringify(await run('config'))).not.toContain('canary')
  expect(await run('config')).toMatchObject({
    rows: [
      { cells: ['agent', '{"max_turns":7}'] },
      { cells: ['moa', expect.any(String)] },
      { cells: ['model', expect.any(String)] },
    ],
  })
  expect(await run('config', { key: 'agent.max_turns' })).toMatchObject({ text: 'agent.max_turns = 7' })
  await run('config', { key: 'agent.max_turns', value: '9' })
  expect(await readFile(config(), 'utf8')).toContain('max_turns: 9')
  await expect(run('config', { key: 'model.api_key', value: 'x' })).rejects.toThrow('may hold a key')
  await expect(run('config', { key: 'agent.max_trns' })).rejects.toThrow('no value for agent.max_trns')
  const { item } = runtime.extensions.list('command').find((one) => one.item.name === 'config')!
  expect(item.complete?.([], {} as CommandContext)).toContain('agent.max_turns')
})

it('/memory shows what is remembered', async () => {
  await (await runtime.memory!.open('user')).change('user', [{ action: 'add', content: 'Likes tea.' }], 'test')
  expect(await run('memory', { words: [] })).toMatchObject([{ rows: [{ cells: ['user', 'Likes tea.'] }] }, {}])
})

it('/account lists keys without showing them, and has one used by the session, its project or first by the profile', async () => {
  const store = openCredentialStore({ path: join(place.path, 'auth.json') })
  for (const label of ['home', 'work'])
    await store.add({ provider: 'openrouter', type: 'api-key', label, secret: `canary-key-of-${label}-1234` })
  let own: string | null = null
  const session = {
    provider: 'openrouter',
    cwd: place.path,
    account: async () => own,
    useAccount: async (name: string | null) => (own = name),
  } as CommandContext['session']
  expect(await run('account', { name: 'work', place: 'profile' }, session)).toEqual({
    type: 'text',
    text: 'work of openrouter is used first, from the next request on.',
  })
  const listed = (await run('account', {}, session)) as CommandTable
  expect(listed.rows.map(({ cells }) => cells)).toEqual([
    ['openrouter', 'work', 'api-key', '…1234', 'ready'],
    ['openrouter', 'home', 'api-key', '…1234', 'ready'],
  ])
  expect(JSON.stringify(listed)).not.toContain('canary')
  await expect(run('account', { name: 'wrok', place: 'project' }, session)).rejects.toThrow('wrok')
  const places = async () =>
    ((await run('account', {}, session)) as CommandTable).rows.map(({ cells }) => cells[5] ?? '')
  const folder = await realpath(place.path)
  await run('account', { name: 'home', place: 'project' }, session)
  expect(await places()).toEqual(['', `used in ${folder}`])
  expect(await run('account', { name: 'work' }, session)).toMatchObject({
    text: 'work of openrouter is used in this session, and no other, from the next request on.',
  })
  expect(await places()).toEqual(['used in this session', ''])
  await run('account', { name: 'default' }, session)
  await run('account', { name: 'default', place: 'project' }, session)
  expect(await places()).toEqual(['', ''])
  await expect(run('account', { name: 'work', place: 'session', provider: 'anthropic' }, session)).rejects.toThrow(
    '/account NAME project anthropic',
  )
  await expect(run('account', { name: 'work' })).rejects.toThrow('Which provider?')
})

it('/moa lists the mixtures and has one answer in the session', async () => {
  const changes: object[] = []
  const session = { provider: 'x', changeModel: async (change: object) => void changes.push(change) } as never
  expect(await run('moa', {}, session)).toMatchObject({ rows: [{ cells: ['careful', '2 models are asked'] }] })
  await run('moa', { preset: 'careful' }, session)
  expect(changes).toEqual([{ provider: 'moa', model: 'careful', force: false }])
})
