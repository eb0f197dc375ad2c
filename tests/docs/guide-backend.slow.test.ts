// The backend of its guide passes the suite of all backends.
import { testEnvironment } from '@hermes/sandbox/testing'
import { openScratchEnvironment } from '../../examples/guides/backend.js'

testEnvironment({
  name: 'the scratch folder of the guide',
  async create() {
    const environment = await openScratchEnvironment({ path: process.env['PATH'] ?? '' })
    return { environment, dispose: () => environment.close() }
  },
})
