// node without-locks.mjs PATH ACTION: opens a store, prints what it is told of it and what it finds, a line each; what fails as `CODE LINE`.
import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openBackups, openStorage } from '../index.ts'

const [path, action] = process.argv.slice(2)
const print = (line) => writeSync(1, `${line}\n`)
const open = () => openStorage({ path, onNotice: (line) => print(`notice ${line}`) })
const backups = openBackups({ path, directory: join(path, '..', 'backups') })
const say = (text) => ({ type: 'message', message: { role: 'user', content: [{ type: 'text', text }] } })
const leaseOf = async (store) => {
  if ((await store.sessions.get('s')) === null) await store.sessions.create({ id: 's', source: 'cli' })
  return store.leases.acquire('s', { owner: 'me' })
}
const converse = async (store, count = 3) => {
  const lease = await leaseOf(store)
  for (let at = 0; at < count; at++) await store.log.append('s', [say(`word wordless ${at}`)], { lease })
  print(`found ${(await store.search.find('word', { limit: 100 })).length}`)
  await lease.release()
}

const ACTIONS = {
  converse: async () => {
    const store = await open()
    await converse(store)
    print(`inside ${(await store.search.find('*ordles*', { limit: 100, order: 'relevance' })).length}`)
    print((await store.maintenance.check()).join() || 'sound')
    await store.close()
    print('closed')
  },
  hold: async () => {
    await converse(await open(), 1)
    setInterval(() => undefined, 1_000)
  },
  append: async () => {
    const store = await open()
    const lease = await leaseOf(store)
    for (;;) print((await store.log.append('s', [say('word')], { lease })).join())
  },
  robbed: async () => {
    const store = await open()
    writeFileSync(`${path}.owner`, '7@elsewhere#.00')
    await store.sessions.create({ id: 's', source: 'cli' })
  },
  count: async () => {
    const store = await open()
    print(`count ${(await store.log.entries('s')).filter(({ type }) => type === 'message').length}`)
    await store.close()
  },
  backup: () => backups.create(),
  'talk-and-backup': async () => {
    const store = await open()
    await converse(store)
    const { name } = await backups.create()
    print(`backed up ${(await backups.verify(name)).messages}`)
    await store.close()
  },
  restore: async () => {
    const { restored } = await backups.restore((await backups.list()).at(-1).name)
    print(`restored ${restored.messages}`)
  },
}
try {
  await ACTIONS[action]()
} catch (error) {
  print(`${error.code} ${error.message}`)
  process.exitCode = 1
}
