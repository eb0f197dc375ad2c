import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPermit } from '@hermes/safety'
import { expect, it, onTestFinished } from 'vitest'
import { referenceOptions } from './reference-sources.js'

async function textOf(html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const storage = () => Promise.reject(new Error('It is not needed.'))
  const { readPage } = referenceOptions({ windowTokens: async () => 1, storage, proxies: null, network: {} })
  const signal = AbortSignal.timeout(30_000)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return readPage!(url, { permit: async (action) => createPermit(action), signal })
}

it('reads no page whose elements stand inside each other without end, and any number beside each other', async () => {
  for (const beginning of ['<div>', '<h1>a', '<blockquote class="x">'])
    await expect(textOf(beginning.repeat(1_900_000 / beginning.length))).rejects.toThrow('too deep inside each other')
  expect(await textOf(`${'<div>'.repeat(200)}${'<div>a</div><p>b'.repeat(3_000)}`)).toContain('a\n\nb')
})
