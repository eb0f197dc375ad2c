// node operate.mjs OPERATION PATH FOLDER [once]: does one thing to a store, over and over until it is killed or `once`, printing `begin`
// before and `done` after each time. OPERATION: open, backup, restore, prune.
import { writeSync } from 'node:fs'
import { openBackups, openStorage } from '../index.ts'

const [operation, path, folder, times] = process.argv.slice(2)
const print = (line) => writeSync(1, `${line}\n`)
const backups = openBackups({ path, directory: folder, keep: 3 })
const OPERATIONS = {
  open: async () => (await openStorage({ path })).close(),
  backup: () => backups.create(),
  restore: async () => backups.restore((await backups.list()).at(-1).name),
  prune: async () => {
    const store = await openStorage({ path })
    await store.maintenance.prune({ olderThanMs: 0 })
    await store.close()
  },
}
try {
  for (;;) {
    print('begin')
    await OPERATIONS[operation]()
    print('done')
    if (operation === 'open' || operation === 'prune' || times === 'once') break
  }
} catch (error) {
  print(String(error.stack))
}
