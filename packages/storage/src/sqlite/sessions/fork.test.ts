import { it } from 'vitest'
import { anyFork } from '../../__fixtures__/any-fork.js'
import { temporaryStore } from '../../__fixtures__/temporary-store.js'

it('gives models the very same conversation in a fork, whatever was compacted or undone', async () => {
  await anyFork(await temporaryStore())
})
