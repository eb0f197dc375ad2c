import { needs } from '@hermes/testkit/daemons'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { isolated } from './__fixtures__/isolated.js'
import { probeIsolation } from './isolation-support.js'

needs(await probeIsolation())('isolated', () => {
  testEnvironment({ name: 'local, isolated', create: () => isolated(), only: sampleFor('isolated', 3) })
})
