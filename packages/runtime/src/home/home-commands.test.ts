import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandContext } from '@hermes/contracts/extension'
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
    'agent:\n  max_turns: 7\nmodel:\n  api_key: canary-key\n  extra: {env: {PAT: canary-env}, x-api-key: canary-header}\n',
  )
  const folders = { home: place.path, userHome: place.path, cwd: place.path, tempDir: place.path }
  runtime = await openRuntime({ ...folders, env: {}, user: 'me' })
})
afterEach(async () => {
  await runtime.close()
  await place.remove()
})

const run = async (name: string, args = {}) => {
  const { item } = runtime.extensions.list('command').find((one) => one.item.name === name)!
  return item.run(args, { session: null, cwd: place.path } as unknown as CommandContext)
}

it('/config shows what is set without keys, one value, and changes one in the file', async () => {
  expect(JSON.stringify(await run('config'))).not.toContain('canary')
  expect(await run('config')).toMatchObject({
    rows: [{ cells: ['agent', '{"max_turns":7}'] }, { cells: ['model', expect.any(String)] }],
  })
  expect(await run('config', { key: 'agent.max_turns' })).toMatchObject({ text: 'agent.max_turns = 7' })
  await run('config', { key: 'agent.max_turns', value: '9' })
  expect(await readFile(config(), 'utf8')).toContain('max_turns: 9')
  await expect(run('config', { key: 'model.api_key', value: 'x' })).rejects.toThrow('may hold a key')
  await expect(run('config', { key: 'agent.max_trns' })).rejects.toThrow('no value for agent.max_trns')
})

it('/memory shows what is remembered', async () => {
  await (await runtime.memory!.open('user')).change('user', [{ action: 'add', content: 'Likes tea.' }], 'test')
  expect(await run('memory')).toMatchObject([{ rows: [{ cells: ['user', 'Likes tea.'] }] }, {}])
})
