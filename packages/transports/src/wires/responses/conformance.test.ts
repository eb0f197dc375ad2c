import { startModelServer } from '@hermes/testkit'
import { createTransport } from '../../index.js'
import { testTransport } from '../../testing/index.js'

testTransport({
  name: 'responses',
  create: (baseUrl, options) => createTransport({ provider: 'openai', api: 'responses', baseUrl, ...options }),
  serve: (script) => startModelServer(script),
})
