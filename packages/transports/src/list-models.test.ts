import { startModelServer } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { listModels } from './index.js'

describe('listModels', () => {
  it('gives the ids an endpoint offers and fails clearly where there is no list', async () => {
    const server = await startModelServer()
    try {
      const ids = await listModels({ baseUrl: server.baseUrl, apiKey: null, fetch })
      expect(ids.length).toBeGreaterThan(0)
      expect(ids.every((id) => typeof id === 'string')).toBe(true)
      const nowhere = server.baseUrl.replace('/v1', '/elsewhere')
      await expect(listModels({ baseUrl: nowhere, apiKey: null, fetch })).rejects.toMatchObject({
        code: 'transport.no_model_list',
      })
    } finally {
      await server.close()
    }
  })
})
