import type { ServerResponse } from 'node:http'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { createPublicFetch } from '@hermes/safety/public-fetch'
import { createFakeClock } from '@hermes/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowing, failingReply, type Reply, type Seen, serve } from './__fixtures__/serve.js'
import { searchedBy } from './__fixtures__/vendor-answers.js'
import { webDoctor } from './doctor.js'
import type { WebSettings } from './settings.js'
import { createWeb, type WebOptions } from './web.js'

const SETTINGS: WebSettings = {
  ...{ backend: '', search_backend: '', extract_backend: '', extract_char_limit: 15_000 },
  ...{ keyless_fallback: true, keyless_rescue: true, provider_tier: {} },
  ...{ cache_enabled: true, cache_ttl_minutes: 20, cache_exempt_hosts: [] },
}
const PAGE = `<!doctype html><html><body><p>${'This page is read by Hermes itself and says the same every time. '.repeat(9)}</p></body></html>`

/** Every service is this server, told apart by the address it is known by. */
async function open(
  services: Readonly<Record<string, (seen: Seen) => Reply>>,
  {
    settings = {},
    variables = {},
    ...more
  }: Partial<Omit<WebOptions, 'settings'>> & { readonly settings?: Partial<WebSettings> } = {},
) {
  const requested: string[] = []
  const server = await serve((seen) => {
    const [, host = '', ...path] = seen.path.split('/')
    requested.push(host)
    return (services[host] ?? (() => failingReply({ type: 'status', status: 403 })))({
      ...seen,
      path: `/${path.join('/')}`,
    })
  })
  const clock = createFakeClock()
  const web = createWeb({
    settings: { ...SETTINGS, ...settings },
    variables,
    fetchTo: (address) => (input, init) => {
      const { host, pathname, search } = new URL(input as URL)
      expect(new URL(address).host).toBe(host)
      return server.fetchTo(server.baseUrl)(`${server.baseUrl}/${host}${pathname}${search}`, init)
    },
    // Names lead to the server, as a resolver would.
    fetchPage: (url, { permit, ...rest }) => {
      const { host, pathname } = new URL(url)
      const outer = async (action: Action) => {
        const { pathname: inner } = new URL((action as { url: string }).url)
        const meant = { ...action, url: `https:/${inner}` } as Action
        const leave = await permit(meant)
        return { ...leave, consume: () => leave.consume(meant) } as typeof leave
      }
      const fetch = createPublicFetch({ network: { allowLoopback: true } })
      return fetch(`${server.baseUrl}/${host}${pathname}`, { ...rest, permit: outer }).then((response) => ({
        ...response,
        url,
      }))
    },
    pdfText: async () => null,
    xSearch: { settings: { model: 'm', reasoning_effort: null, timeout_seconds: 1, retries: 0 }, login: null },
    clock,
    ...more,
  })
  onTestFinished(async () => {
    await web.close()
    server.close()
  })
  const { permit, actions } = allowing()
  const call = { permit, signal: AbortSignal.timeout(15_000) }
  return {
    web,
    requested,
    actions,
    call,
    clock,
    search: (query = 'q', limit = 5) => web.search(query, { ...call, limit }),
  }
}

const firecrawl =
  (...urls: string[]) =>
  (): JsonObject => ({
    success: true,
    data: { web: urls.map((url) => ({ title: url, url, description: '' })) },
  })
const results =
  (...urls: string[]) =>
  (): JsonObject => ({ results: urls.map((url) => ({ title: url, url, content: '' })) })
const limited = () => failingReply({ type: 'status', status: 429 })

describe('who searches', () => {
  it('is whoever has a key, and the next one where that fails in any way', async () => {
    const services = { 'api.firecrawl.dev': limited, 'api.tavily.com': results('https://a.example/') }
    const variables = { FIRECRAWL_API_KEY: 'f', TAVILY_API_KEY: 't' }
    const { search, requested } = await open(services, { variables })
    expect(await search()).toMatchObject({
      servedBy: 'tavily',
      isAnonymous: false,
      hits: [{ url: 'https://a.example/' }],
    })
    expect(requested).toEqual(['api.firecrawl.dev', 'api.tavily.com'])
    // One that failed is left alone for a while.
    await search('another')
    expect(requested.slice(2)).toEqual(['api.tavily.com'])
  })

  it('is the one that config.yaml names and nobody else, and the failure says so', async () => {
    const services = { 'api.exa.ai': limited, 'api.tavily.com': results('https://a.example/') }
    const { search, requested } = await open(services, {
      settings: { search_backend: 'exa' },
      variables: { EXA_API_KEY: 'e', TAVILY_API_KEY: 't' },
    })
    await expect(search()).rejects.toThrow(/Exa was asked too often \(429\)\. It is chosen in config\.yaml/)
    expect(requested).toEqual(['api.exa.ai'])
  })

  it('is the next one where nobody chose a service that does not answer in time', async () => {
    const silent = () => failingReply({ type: 'silence' })
    const services = { 'api.firecrawl.dev': silent, 'api.exa.ai': results('https://a.example/') }
    const variables = { FIRECRAWL_API_KEY: 'f', EXA_API_KEY: 'e' }
    const { search, requested } = await open(services, { variables, timeoutMs: 50 })
    expect(await search()).toMatchObject({ servedBy: 'exa', most: null })
    expect(requested).toEqual(['api.firecrawl.dev', 'api.exa.ai'])
    const chosen = await open(services, { variables, timeoutMs: 50, settings: { search_backend: 'firecrawl' } })
    await expect(chosen.search()).rejects.toThrow('Firecrawl could not be asked: no answer within 0.05 s.')
  })

  it('is reached where its variables say: a Firecrawl of one’s own without a key, the gateway with a token alone', async () => {
    const reached = async (variables: Record<string, string>) => {
      const keys: unknown[] = []
      const own = ({ headers }: Seen) => {
        keys.push(headers.authorization)
        return firecrawl('https://a.example/')()
      }
      const services = { 'fire.local:3002': own, 'gate.example': own, 'api.firecrawl.dev': own }
      const { search, requested } = await open(services, { variables })
      return [(await search()).servedBy, ...requested, ...keys]
    }
    const at = { FIRECRAWL_API_URL: 'http://fire.local:3002/' }
    expect(await reached(at)).toEqual(['firecrawl', 'fire.local:3002', undefined])
    expect(await reached({ ...at, FIRECRAWL_API_KEY: 'f' })).toEqual(['firecrawl', 'fire.local:3002', 'Bearer f'])
    const gate = { FIRECRAWL_GATEWAY_URL: 'https://gate.example' }
    expect(await reached({ ...gate, TOOL_GATEWAY_USER_TOKEN: 't' })).toEqual(['nous', 'gate.example', 'Bearer t'])
    expect(await reached(gate)).toEqual(['firecrawl', 'api.firecrawl.dev', undefined])
  })

  it('is xAI by its key, after what is for searching alone', async () => {
    const services = { 'api.x.ai': () => searchedBy('xai', [{ title: 'T', url: 'https://a.example/', snippet: 'S' }]) }
    const { search, requested } = await open(services, { variables: { XAI_API_KEY: 'x' } })
    expect(await search()).toMatchObject({ servedBy: 'xai', isAnonymous: false, most: 30 })
    expect(requested).toEqual(['api.x.ai'])
    const both = { ...services, 'api.tavily.com': results('https://a.example/') }
    const keyed = await open(both, { variables: { XAI_API_KEY: 'x', TAVILY_API_KEY: 't' } })
    expect((await keyed.search()).servedBy).toBe('tavily')
  })

  it('takes an empty list for an answer', async () => {
    const { search, requested } = await open(
      { 'api.firecrawl.dev': firecrawl() },
      { variables: { FIRECRAWL_API_KEY: 'f', TAVILY_API_KEY: 't' } },
    )
    expect((await search()).hits).toEqual([])
    expect(requested).toEqual(['api.firecrawl.dev'])
  })

  it('is a SearXNG server after services with a key, and before services without one', async () => {
    const variables = { SEARXNG_URL: 'http://search.local:8888/', TAVILY_API_KEY: 't' }
    const services = { 'api.tavily.com': limited, 'search.local:8888': results('https://a.example/') }
    const { search, requested } = await open(services, { variables })
    expect(await search()).toMatchObject({ servedBy: 'searxng', isAnonymous: false })
    expect(requested).toEqual(['api.tavily.com', 'search.local:8888'])
  })

  it('is a service without a key where nothing is configured, unless that is off', async () => {
    const services = {
      'api.firecrawl.dev': limited,
      'api.tavily.com': limited,
      'api.keenable.ai': results('https://a.example/'),
    }
    const { search, requested } = await open(services)
    expect(await search()).toMatchObject({ servedBy: 'keenable', isAnonymous: true })
    expect(requested).toHaveLength(3)
    const off = await open(services, { settings: { keyless_fallback: false } })
    await expect(off.search()).rejects.toMatchObject({
      code: 'web.not_configured',
      message: expect.stringContaining('TAVILY_API_KEY'),
    })
    const rescue = await open(services, { settings: { keyless_rescue: false }, variables: { TAVILY_API_KEY: 't' } })
    await expect(rescue.search()).rejects.toThrow('Tavily was asked too often')
    expect(rescue.requested).toEqual(['api.tavily.com'])
  })

  it('names what is wrong with a choice', async () => {
    const wrong = await open({}, { settings: { backend: 'tavilly' } })
    await expect(wrong.search()).rejects.toThrow('"tavilly", which Hermes does not know; tavily may be meant')
    const missing = await open({}, { settings: { backend: 'brave-free' } })
    await expect(missing.search()).rejects.toThrow('BRAVE_SEARCH_API_KEY is not set')
    const paid = await open({}, { settings: { backend: 'tavily', provider_tier: { tavily: 'paid' } } })
    await expect(paid.search()).rejects.toThrow('TAVILY_API_KEY is not set')
  })

  it('is what an extension brings, where that is chosen', async () => {
    const hit = { title: 'T', url: 'https://a.example/', snippet: '' }
    const own = () => ({ search: { ddgs: () => ({ name: 'ddgs', search: async () => [hit] }) }, extract: {} })
    const { search } = await open({}, { settings: { backend: 'ddgs' }, own })
    expect(await search()).toMatchObject({ servedBy: 'ddgs', hits: [hit] })
  })

  it('asks nobody else once the policy denied it', async () => {
    const { web, requested } = await open({}, { variables: { FIRECRAWL_API_KEY: 'f', TAVILY_API_KEY: 't' } })
    const permit = async (): Promise<never> => {
      throw new HermesError('The rules forbid it.', { code: 'policy.denied' })
    }
    await expect(web.search('q', { permit, signal: AbortSignal.timeout(5_000), limit: 5 })).rejects.toThrow('forbid')
    expect(requested).toEqual([])
  })
})

describe('who reads pages', () => {
  it('is Hermes, and a service with a key where the page lets no program in', async () => {
    const services = {
      'free.example': () => (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
      'api.exa.ai': () => ({ results: [{ url: 'https://shut.example/', title: 'T', text: 'Read by Exa.' }] }),
    } as never
    const { web, call, requested } = await open(services, { variables: { EXA_API_KEY: 'e' } })
    expect(await web.extract('https://free.example/', call)).toMatchObject({ servedBy: 'local' })
    expect(await web.extract('https://shut.example/', call)).toMatchObject({ servedBy: 'exa', text: 'Read by Exa.' })
    expect(requested).toEqual(['free.example', 'shut.example', 'api.exa.ai'])
    const without = await open(services)
    await expect(without.web.extract('https://shut.example/', without.call)).rejects.toThrow('403')
  })

  it('asks for the page itself, and for where it led, before a service gives it', async () => {
    const services = { 'api.exa.ai': () => ({ results: [{ url: 'https://blocked.example/', title: 'T', text: 'x' }] }) }
    const { web, call } = await open(services, {
      settings: { extract_backend: 'exa' },
      variables: { EXA_API_KEY: 'e' },
    })
    const permit = async (action: Action) => {
      if (action.type === 'fetch' && action.url.includes('blocked'))
        throw new HermesError('It is blocked.', { code: 'policy.denied' })
      return call.permit(action)
    }
    await expect(web.extract('https://open.example/', { ...call, permit })).rejects.toThrow('It is blocked.')
  })

  it('never tells a service of addresses inside', async () => {
    const services = { 'api.exa.ai': () => ({ results: [{ url: 'x', title: 'T', text: 'leaked' }] }) }
    const { web, call, requested } = await open(services, {
      settings: { extract_backend: 'exa' },
      variables: { EXA_API_KEY: 'e' },
    })
    for (const inside of [
      'http://127.0.0.1:9/',
      'http://wiki/',
      'http://[::1]/',
      'http://2130706433/',
      'http://10.0.0.7/',
    ])
      await expect(web.extract(inside, call)).rejects.toThrow()
    expect(requested).not.toContain('api.exa.ai')
  })
})

describe('answers that several ask for', () => {
  const services = { 'api.tavily.com': results('https://a.example/', 'https://b.example/') }
  const variables = { TAVILY_API_KEY: 't' }

  it('are asked for once, kept for twenty minutes, and each asks the policy again', async () => {
    const { web, search, requested, call, clock } = await open(services, { variables })
    const both = await Promise.all([search('q', 1), search('q', 2)])
    expect(both.map(({ hits }) => hits.length)).toEqual([1, 2])
    await search('q', 2)
    expect(requested).toHaveLength(1)
    const denied = async (): Promise<never> => {
      throw new HermesError('No.', { code: 'policy.denied' })
    }
    await expect(web.search('q', { ...call, permit: denied, limit: 1 })).rejects.toThrow('No.')
    clock.advance(20 * 60_000 + 1)
    await search('q', 2)
    expect(requested).toHaveLength(2)
  })

  it('are not kept after a failure, of private networks, of exempt hosts, or where that is off', async () => {
    let page = ''
    const growing = () => (response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end((page += 'again '))
    const pages = { 'a.exempt.example': growing, 'wiki.internal': growing }
    const { web, call } = await open(pages as never, { settings: { cache_exempt_hosts: ['exempt.example'] } })
    expect((await web.extract('https://a.exempt.example/', call)).text).toBe('again')
    expect((await web.extract('https://a.exempt.example/', call)).text).toBe('again again')
    expect((await web.extract('http://wiki.internal/', call)).text).toBe('again again again')
    expect((await web.extract('http://wiki.internal/', call)).text).toBe('again again again again')
    let count = 0
    const failing = { 'api.tavily.com': () => (count++ === 0 ? limited() : results('https://a.example/')()) }
    const { search } = await open(failing, { variables, settings: { search_backend: 'tavily' } })
    await expect(search()).rejects.toThrow()
    expect((await search()).hits).toHaveLength(1)
    const off = await open(services, { variables, settings: { cache_enabled: false } })
    await off.search()
    await off.search()
    expect(off.requested).toHaveLength(2)
  })

  it('go on for others when one of those who wait is gone', async () => {
    const { web, call, search, requested } = await open(services, { variables })
    const stop = new AbortController()
    const gone = web.search('q', { ...call, signal: stop.signal, limit: 5 })
    const stays = search('q')
    stop.abort(new Error('stopped'))
    await expect(gone).rejects.toThrow('stopped')
    expect((await stays).hits).toHaveLength(2)
    expect(requested).toHaveLength(1)
  })
})

describe('the doctor', () => {
  const settings = { search_backend: 'tavily', extract_backend: 'exa' }
  const variables = { TAVILY_API_KEY: 't', EXA_API_KEY: 'e' }
  const services = {
    'api.tavily.com': results('https://a.example/'),
    'api.exa.ai': () => failingReply({ type: 'status', status: 402 }),
  }
  const examine = async ({ web, call }: Awaited<ReturnType<typeof open>>, isOffline = false) =>
    webDoctor(web, call).run({ isOffline, signal: call.signal })

  it('tries search and pages apart', async () => {
    const opened = await open(services, { settings, variables })
    expect(await examine(opened)).toEqual([
      { level: 'ok', text: 'Web search: tavily answers' },
      { level: 'fail', text: expect.stringMatching(/^Web pages: Exa .*\(402\)/) },
    ])
    const swapped = { search_backend: 'exa', extract_backend: '' }
    const page = () => (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    const withPage = { ...services, 'example.com': page } as typeof services
    expect(await examine(await open(withPage, { settings: swapped, variables }))).toEqual([
      { level: 'fail', text: expect.stringMatching(/^Web search: Exa .*\(402\)/) },
      { level: 'ok', text: 'Web pages: Hermes itself reads pages' },
    ])
  })

  it('tries what needs no key as well, and warns alone where nobody chose it', async () => {
    const keyless = { 'api.firecrawl.dev': limited, 'api.tavily.com': results('https://a.example/') }
    const opened = await open(keyless)
    expect(await examine(opened)).toEqual([
      { level: 'ok', text: 'Web search: tavily answers without a key' },
      { level: 'warn', text: expect.stringMatching(/^Web pages: .*example\.com.*403/) },
    ])
    expect(opened.requested).toEqual(expect.arrayContaining(['api.firecrawl.dev', 'api.tavily.com', 'example.com']))
    const [search] = await examine(await open({}))
    expect(search).toMatchObject({ level: 'warn', text: expect.stringContaining('Keenable refused the request (403)') })
  })

  it('asks nobody where servers may not be asked', async () => {
    for (const opened of [await open(services), await open(services, { settings, variables })]) {
      const findings = await examine(opened, true)
      expect(findings.map(({ level }) => level)).toEqual(['ok', 'ok'])
      for (const { text } of findings) expect(text).toContain('(not tried)')
      expect(opened.requested).toEqual([])
    }
  })
})
