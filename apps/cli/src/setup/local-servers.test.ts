import { startModelServer } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { findLocalServers, LOCAL_SERVERS } from './local-servers.js'

it('finds the servers that list their models and passes over ports where nobody or something else listens', async () => {
  const server = await startModelServer()
  const address = (path: string) => server.baseUrl.replace(/\/v1$/, path)
  try {
    const found = await findLocalServers([
      { provider: 'ollama', name: 'Not there', baseUrl: 'http://127.0.0.1:9/v1' },
      { provider: 'custom', name: 'There', baseUrl: server.baseUrl },
      { provider: 'custom', name: 'Something else', baseUrl: address('/elsewhere') },
    ])
    expect(found).toEqual([
      {
        ...{ provider: 'custom', name: 'There', baseUrl: server.baseUrl },
        ...{ apiKey: null, keyEnv: null, isNewKey: false, models: ['scripted'] },
      },
    ])
  } finally {
    await server.close()
  }
})

it('looks on loopback only', () => {
  for (const { baseUrl } of LOCAL_SERVERS) expect(new URL(baseUrl).hostname).toBe('127.0.0.1')
})
