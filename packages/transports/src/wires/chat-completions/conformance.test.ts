import { startModelServer } from '@hermes/testkit'
import { createTransport } from '../../index.js'
import { testTransport } from '../../testing/index.js'

testTransport({
  name: 'chat-completions',
  create: (baseUrl, options) => createTransport({ provider: 'custom', baseUrl, ...options }),
  serve: (script) => startModelServer(script),
})
