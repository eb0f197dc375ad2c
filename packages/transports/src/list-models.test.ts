import { startModelServer } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { listModels } from './index.js'

describe('listModels', () => {
  it('asks Anthropic in its own way', async () => {
    const requested: Request[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      requested.push(new Request(input, init))
      return Response.json({ data: [{ id: 'claude-b' }, { id: 'claude-a' }] })
    }
    const options = { provider: 'anthropic', baseUrl: 'https://api.anthropic.com', apiKey: 'k', fetch }
    expect(await listModels(options)).toEqual(['claude-a', 'claude-b'])
    expect(requested[0]?.url).toMatch(/^https:\/\/api\.anthropic\.com\/v1\/models/)
    expect(requested[0]?.headers.get('x-api-key')).toBe('k')
    expect(requested[0]?.headers.get('user-agent')).toBe('hermes')
    expect(requested[0]?.headers.get('anthropic-version')).toMatch(/^\d{4}-\d\d-\d\d$/)
  })

  it('gives the ids an endpoint offers and fails clearly where there is no list', async () => {
    const server = await startModelServer()
    try {
      const ids = await listModels({ provider: 'custom', baseUrl: server.baseUrl, apiKey: null, fetch })
      expect(ids.length).toBeGreaterThan(0)
      expect(ids.every((id) => typeof id === 'string')).toBe(true)
      const nowhere = server.baseUrl.replace('/v1', '/elsewhere')
      await expect(listModels({ provider: 'custom', baseUrl: nowhere, apiKey: null, fetch })).rejects.toMatchObject({
        code: 'transport.no_model_list',
      })
    } finally {
      await server.close()
    }
  })

  it('asks Bedrock for none, whose list is elsewhere', async () => {
    const ask = () => expect.unreachable('the network was used')
    const endpoint = { provider: 'bedrock', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com', apiKey: 'k' }
    await expect(listModels({ ...endpoint, fetch: ask })).rejects.toMatchObject({ code: 'transport.no_model_list' })
  })
})
