import { expect, it } from 'vitest'
import { filterEnvironment } from './filter-environment.js'

it('takes secrets and unset values away and keeps the rest', () => {
  const env = { PATH: '/bin', OPENAI_API_KEY: 'k', GITHUB_TOKEN: 't', NOTHING: undefined }
  expect(filterEnvironment(env, { secretNames: ['OPENAI_API_KEY', 'GITHUB_TOKEN'] })).toEqual({ PATH: '/bin' })
})

it('keeps a secret that is asked for by name', () => {
  const filter = { secretNames: ['A_KEY', 'B_KEY'], keep: ['B_KEY', 'C_KEY'] }
  expect(filterEnvironment({ A_KEY: '1', B_KEY: '2' }, filter)).toEqual({ B_KEY: '2' })
})
