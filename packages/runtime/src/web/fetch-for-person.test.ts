import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultConfig } from '@hermes/config'
import { createPolicy } from '@hermes/safety'
import { expect, it, onTestFinished } from 'vitest'
import { fetchForPerson } from './fetch-for-person.js'

it('gets what the policy lets it, whole, and nothing near where that is not configured', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/gone' ? 404 : 200
    response.end(request.url === '/large' ? Buffer.alloc(3 * 1_048_576) : 'bytes')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const fetched = async (path: string, isOpen = true) => {
    const config = { ...defaultConfig(), security: { ...defaultConfig().security, allow_private_urls: isOpen } }
    const network = { allowLoopback: isOpen, allowPrivate: isOpen }
    const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', network })
    const request = { platform: 'api', user: 'bob', maxBytes: 2 * 1_048_576, signal: new AbortController().signal }
    const bytes = await fetchForPerson(at(path), request, { config, proxies: null, policy })
    return Buffer.from(bytes).toString()
  }
  expect(await fetched('/')).toBe('bytes')
  await expect(fetched('/gone')).rejects.toThrow('the server answered 404')
  await expect(fetched('/large')).rejects.toThrow('it has more than 2 MiB')
  await expect(fetched('/', false)).rejects.toMatchObject({ code: expect.stringMatching(/^policy\./) })
})
