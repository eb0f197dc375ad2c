import { it } from 'vitest'
import { anySearch } from '../../__fixtures__/any-search.js'
import { temporaryStore } from '../../__fixtures__/temporary-store.js'

it('a search takes whatever a person types', async () => {
  await anySearch(await temporaryStore(), 2_000)
})
