import { startModelServer } from '@hermes/testkit'
import { createTransport } from '../../index.js'
import { testTransport } from '../../testing/index.js'

testTransport({
  name: 'bedrock-converse',
  countsReasoning: false,
  create: (baseUrl, options) => createTransport({ provider: 'bedrock', baseUrl, ...options }),
  serve: async (script) => {
    const server = await startModelServer(script)
    return { baseUrl: server.anthropicBaseUrl, requests: server.requests, close: () => server.close() }
  },
})
