import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userText } from '@hermes/contracts/conversation'
import { MARKS, openStorage, type Storage } from '@hermes/storage'
import { expect, it, onTestFinished } from 'vitest'
import { chooseSession } from './session-choice.js'

const MANY = 450

/** Counts what a store is asked. */
function counted(storage: Storage): { readonly storage: Storage; readonly requested: string[] } {
  const requested: string[] = []
  const sessions = new Proxy(storage.sessions, {
    get: (target, name: keyof Storage['sessions']) => {
      requested.push(name)
      return target[name].bind(target)
    },
  })
  return { storage: { ...storage, sessions }, requested }
}

async function storeOf(folder: string): Promise<Storage> {
  const storage = await openStorage({ path: join(folder, 'state.db') })
  for (let number = 0; number < MANY; number++) {
    const id = `s${number}`
    await storage.sessions.create({ id, source: 'cli', cwd: join(folder, `elsewhere-${number % 40}`) })
    const lease = await storage.leases.acquire(id, { owner: 'me' })
    await storage.log.append(id, [{ type: 'message', message: userText('hello') }], { lease })
    await lease.release()
  }
  return storage
}

it('asks a store of many sessions as often as one of few, whether this folder has one or not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-choice-'))
  const cwd = join(folder, 'elsewhere-7')
  await mkdir(cwd)
  await mkdir(join(folder, 'new'))
  const open = await storeOf(folder)
  onTestFinished(async () => {
    await open.close()
    await rm(folder, { recursive: true, maxRetries: 10 })
  })
  const { storage, requested } = counted(open)
  const world = { cwd, userHome: join(folder, 'user'), env: {} }
  expect(await chooseSession(world, storage, { continue: true })).toMatchObject({ id: 's447', cwd })
  expect(requested).toEqual(['latest', 'folders', 'latest'])
  requested.length = 0
  const none = chooseSession({ ...world, cwd: join(folder, 'new') }, storage, { continue: true })
  await expect(none).rejects.toThrow(/no session of this folder.* s449 in /)
  expect(requested).toEqual(['latest', 'folders', 'folders'])
})

it('goes on with what is archived where nothing else is left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-choice-'))
  const cwd = join(folder, 'elsewhere-7')
  await mkdir(cwd)
  const storage = await storeOf(folder)
  onTestFinished(async () => {
    await storage.close()
    await rm(folder, { recursive: true, maxRetries: 10 })
  })
  for (const { id } of await storage.sessions.list({ limit: 1_000 }))
    await storage.sessions.setTags(id, [MARKS.archived])
  const world = { cwd, userHome: join(folder, 'user'), env: {} }
  expect(await chooseSession(world, storage, { continue: true })).toMatchObject({ id: 's447', cwd })
  expect(await chooseSession(world, storage, { continue: true, any: true })).toMatchObject({ id: 's449' })
})
