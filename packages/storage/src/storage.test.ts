import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage } from './index.js'
import { testStore } from './testing/index.js'

testStore({
  create: async ({ clock }) => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-storage-'))
    const store = await openStorage({ path: join(folder, 'state.db'), clock })
    const close = async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    }
    return { store, close }
  },
})
