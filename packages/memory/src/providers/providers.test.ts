import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testMemoryProvider } from '../testing/memory-provider-cases.js'
import * as services from './__fixtures__/services.js'
import { type FakeService, KEY, type Reply, startService } from './__fixtures__/services.js'
import { openMemoryProvider, type ProviderChoice } from './index.js'
import { createMem0 } from './mem0.js'

const signal = () => AbortSignal.timeout(5_000)

/** A real provider in front of a service that behaves like its own. */
function subject(
  start: () => Promise<FakeService>,
  choose: (service: FakeService) => Promise<ProviderChoice> | ProviderChoice,
) {
  return async () => {
    const service = await start()
    const provider = await openMemoryProvider(await choose(service))
    return {
      provider,
      stall: () => service.fail(null),
      refuse: (status: number) => service.fail([status, { detail: 'No.' }]),
      release: () => service.close(),
    }
  }
}
const account = ({ baseUrl }: FakeService) => ({ fetch, baseUrl, apiKey: KEY, userId: 'ada', workspace: 'hermes' })

describe('honcho', () => {
  testMemoryProvider(
    subject(
      () => startService(services.honcho(), `Bearer ${KEY}`),
      (service) => ({ name: 'honcho', ...account(service) }),
    ),
  )
})

describe('mem0, the platform', () => {
  testMemoryProvider(async () => {
    const service = await startService(services.mem0Platform(), `Token ${KEY}`)
    // The platform is told by its address; this way there, requests come to the one of the test.
    const toTest: typeof fetch = (url, init) => fetch(String(url).replace('https://api.mem0.ai', service.baseUrl), init)
    return {
      provider: createMem0({ ...account(service), baseUrl: 'https://api.mem0.ai', fetch: toTest }),
      stall: () => service.fail(null),
      refuse: (status) => service.fail([status, { detail: 'No.' }]),
      release: () => service.close(),
    }
  })
})

describe.each(['old', 'new'] as const)('mem0, a server of one’s own, %s', (age) => {
  testMemoryProvider(
    subject(
      () => startService(services.mem0Server(age), KEY),
      (service) => ({ name: 'mem0', ...account(service) }),
    ),
  )
})

describe('supermemory', () => {
  testMemoryProvider(
    subject(
      () => startService(services.supermemory(), `Bearer ${KEY}`),
      (service) => ({ name: 'supermemory', ...account(service) }),
    ),
  )
})

describe('vectors in a file of one’s own', () => {
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'hermes-vectors-'))
    onTestFinished(() => rm(path, { recursive: true, force: true }))
    return path
  }
  const start = () => startService(services.embeddings(), `Bearer ${KEY}`)
  const choice = (service: FakeService, path: string, model = 'small'): ProviderChoice => ({
    name: 'local',
    path: join(path, 'vectors.db'),
    embeddings: { fetch, baseUrl: `${service.baseUrl}/v1`, model, apiKey: KEY },
    now: () => 0,
  })
  testMemoryProvider(subject(start, async (service) => choice(service, await folder())))

  it('keeps its memories to its owner, also in a file that others could read', async () => {
    const [service, path] = [await start(), await folder()]
    onTestFinished(() => service.close())
    for (const before of [null, 0o644]) {
      const file = join(path, 'vectors.db')
      if (before !== null) await chmod(file, before)
      const provider = await openMemoryProvider(choice(service, path))
      await provider.store('The boat is painted blue', { signal: signal() })
      const files = await readdir(path)
      const modes = await Promise.all(files.map(async (name) => (await stat(join(path, name))).mode & 0o777))
      expect(new Set(modes)).toEqual(new Set([0o600]))
      await provider.close()
    }
  })

  it('keeps its memories, and leaves those of another model alone', async () => {
    const [service, path] = [await start(), await folder()]
    onTestFinished(() => service.close())
    const first = await openMemoryProvider(choice(service, path))
    await first.store('The boat is painted blue', { signal: signal() })
    await first.close()
    const again = await openMemoryProvider(choice(service, path))
    expect(await again.recall('boat painted', { limit: 3, signal: signal() })).toMatchObject([
      { text: 'The boat is painted blue' },
    ])
    await again.close()
    const other = await openMemoryProvider(choice(service, path, 'large'))
    expect(await other.recall('boat painted', { limit: 3, signal: signal() })).toEqual([])
    await other.close()
  })
})

describe('what a service may do wrong', () => {
  const open = async (reply: Reply) => {
    const service = await startService(services.mem0Server(), KEY)
    onTestFinished(() => service.close())
    service.fail(reply)
    return createMem0(account(service))
  }

  it.each([
    ['a page instead of JSON', [200, '<html>'], 'memory.provider_bad_reply', 'no JSON'],
    ['JSON of another kind', [200, { ok: true }], 'memory.provider_bad_reply', 'not its own'],
    ['an error page', [502, '<html>Bad gateway</html>'], 'memory.provider_unavailable', 'Mem0 answered 502.'],
    [
      'a reason',
      [400, { detail: 'user_id\nis missing.' }],
      'memory.provider_refused',
      'answered 400: user_id is missing.',
    ],
    [
      'reasons as FastAPI lists them',
      [422, { detail: [{ loc: ['body', 'top_k'], msg: 'Input should be at most 100' }] }],
      'memory.provider_refused',
      'answered 422: Input should be at most 100.',
    ],
    [
      'a reason as OpenAI puts it',
      [404, { error: { message: 'No such model.', code: 'model_not_found' } }],
      'memory.provider_refused',
      'answered 404: No such model.',
    ],
  ] as const)('is told in one line: %s', async (_, reply, code, text) => {
    const provider = await open(reply)
    await expect(provider.recall('anything', { limit: 1, signal: signal() })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    })
  })

  it('is not listened to for ever', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const server = createServer((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 'a')));
        response.once('drain', more)
      }
      response.on('close', () => resolve(response.removeAllListeners('drain') && undefined))
      more()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const provider = createMem0({ fetch, baseUrl, apiKey: KEY, userId: 'ada', workspace: 'hermes' })
    await expect(provider.recall('anything', { limit: 1, signal: signal() })).rejects.toMatchObject({
      code: 'memory.provider_bad_reply',
    })
    await closed
  })

  it('is not there', async () => {
    const service = await startService(services.mem0Server(), KEY)
    await service.close()
    await expect(createMem0(account(service)).check({ signal: signal() })).rejects.toMatchObject({
      code: 'memory.provider_unavailable',
    })
  })
})
