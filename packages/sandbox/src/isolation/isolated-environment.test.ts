import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { testEnvironment } from '../testing/index.js'
import { isolated } from './__fixtures__/isolated.js'

needs(missingPrograms('bwrap'))('isolated', () => {
  testEnvironment({ name: 'local, isolated', create: () => isolated() })
})
