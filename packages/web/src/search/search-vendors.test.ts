import type { JsonObject } from '@hermes/contracts'
import type { SearchHit } from '@hermes/contracts/web'
import { describe, expect, it } from 'vitest'
import { allowing, failingReply, type Reply, type Seen, serve } from '../__fixtures__/serve.js'
import { searchedBy } from '../__fixtures__/vendor-answers.js'
import { testSearchProvider } from '../testing/index.js'
import { serviceOf } from '../vendor/vendors.js'
import { createSearch } from './search-vendor.js'
import { SEARCHES } from './search-vendors.js'

async function subject(name: string, key: string | null = 'secret-key') {
  let reply: (seen: Seen) => Reply = () => searchedBy(name, [])
  const server = await serve((seen) => reply(seen))
  const { permit, actions } = allowing()
  const connection = { vendor: serviceOf(name), baseUrl: server.baseUrl, key, fetch: server.fetchTo(server.baseUrl) }
  return {
    provider: createSearch(name, SEARCHES[name]!, connection),
    permit,
    actions,
    requests: server.requests,
    find: (hits: readonly SearchHit[]) => void (reply = () => searchedBy(name, hits)),
    fail: (failure: Parameters<typeof failingReply>[0]) => void (reply = () => failingReply(failure)),
    reply: (answer: JsonObject) => void (reply = () => answer),
    release: server.close,
  }
}

describe.each(Object.keys(SEARCHES))('search by %s', (name) => {
  testSearchProvider(() => subject(name))

  it('asks once, against a permit for that request, and carries the key in a header', async () => {
    const { provider, permit, actions, requests, release } = await subject(name)
    await provider.search('cats & dogs', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
    release()
    expect(requests).toHaveLength(1)
    expect(actions).toMatchObject([{ type: 'fetch', method: requests[0]!.method, chosen: 'looks' }])
    expect(JSON.stringify([requests[0]!.path, requests[0]!.body])).not.toContain('secret-key')
    if (name !== 'searxng') expect(JSON.stringify(requests[0]!.headers)).toContain('secret-key')
    expect(decodeURIComponent(JSON.stringify([requests[0]!.path.replaceAll('+', ' '), requests[0]!.body]))).toContain(
      'cats & dogs',
    )
  })
})

describe('search', () => {
  it('is asked without a key as each service documents it', async () => {
    const requested = async (name: string) => {
      const { provider, permit, requests, release } = await subject(name, null)
      await provider.search('x', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
      release()
      return requests[0]!
    }
    expect((await requested('tavily')).headers).toMatchObject({ 'x-tavily-access-mode': 'keyless' })
    expect(await requested('keenable')).toMatchObject({
      path: '/v1/search/public',
      headers: { 'x-keenable-title': 'Hermes' },
    })
    expect((await requested('firecrawl')).headers).not.toHaveProperty('authorization')
  })

  it('of SearXNG fails where it is empty because engines failed', async () => {
    const { provider, permit, reply, release } = await subject('searxng')
    reply({
      results: [],
      unresponsive_engines: [
        ['brave', 'timeout'],
        ['duckduckgo', 'CAPTCHA'],
      ],
    })
    const run = provider.search('x', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
    await expect(run).rejects.toThrow('its engines failed: brave timeout, duckduckgo CAPTCHA')
    release()
  })
})
