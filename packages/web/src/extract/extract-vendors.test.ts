import { describe, expect, it } from 'vitest'
import { allowing, failingReply, type Reply, serve } from '../__fixtures__/serve.js'
import { readBy, type Shown, URL_READ } from '../__fixtures__/vendor-answers.js'
import { testExtractProvider } from '../testing/index.js'
import { serviceOf } from '../vendor/vendors.js'
import { createExtract } from './extract-vendor.js'
import { EXTRACTS } from './extract-vendors.js'

async function subject(name: string) {
  const answers = readBy(name)
  let reply: Reply = answers.none
  const server = await serve(() => reply)
  const fetch = server.fetchTo(server.baseUrl)
  const connection = { vendor: serviceOf(name), baseUrl: server.baseUrl, key: 'secret-key', fetch }
  return {
    provider: createExtract(name, EXTRACTS[name]!, connection),
    permit: allowing().permit,
    show: (page: Shown) => {
      reply = answers.page(page)
      return URL_READ
    },
    fail: (failure: Parameters<typeof failingReply>[0]) => {
      reply = failingReply(failure)
      return URL_READ
    },
    release: server.close,
  }
}

describe.each(Object.keys(EXTRACTS))('pages read by %s', (name) => {
  testExtractProvider(() => subject(name))

  it('says why a page could not be read', async () => {
    const { provider, permit, release } = await subject(name)
    const run = provider.extract(URL_READ, { permit, signal: AbortSignal.timeout(5_000) })
    await expect(run).rejects.toMatchObject({ code: 'web.unreadable', message: expect.stringContaining(URL_READ) })
    release()
  })
})
