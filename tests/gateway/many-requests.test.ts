// More clients at once than runs go on at once: the rest wait for their turn, and nobody is refused.
import { expect, it, onTestFinished } from 'vitest'
import { KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const REQUESTS = 200
const AT_ONCE = 64

const scene = useScene()

it('answers 200 requests that come at once: 64 run, the others wait, and none is refused', async () => {
  const gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
  onTestFinished(() => gateway.stop().then(() => undefined))
  const allThere = Promise.withResolvers<void>()
  scene.server.setHandler(async ({ body }) => {
    await allThere.promise
    const [, number] = /question (\d+)\./.exec(JSON.stringify(body.messages.at(-1)!.content))!
    return { text: `answer ${number}` }
  })
  const ask = async (number: number) => {
    const body = JSON.stringify({ model: 'test', messages: [{ role: 'user', content: `question ${number}.` }] })
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const response = await gateway.request('/chat/completions', { body, headers })
    const { choices } = (await response.json()) as { readonly choices?: readonly [{ message: { content: string } }] }
    return [response.status, choices?.[0].message.content]
  }
  const numbers = Array.from({ length: REQUESTS }, (_, number) => number)
  const answers = Promise.all(numbers.map(ask))
  const load = async () => {
    const headers = { authorization: `Bearer ${KEY}` }
    const text = await (await fetch(new URL('/metrics', gateway.baseUrl), { headers })).text()
    return [...text.matchAll(/^hermes_requests\{state="(\w+)"\} (\d+)$/gm)].map(([, state, count]) => [state, count])
  }
  const full = [
    ['under_way', String(AT_ONCE)],
    ['waiting', String(REQUESTS - AT_ONCE)],
  ]
  await expect.poll(load, { timeout: 30_000, interval: 100 }).toEqual(full)
  allThere.resolve()
  expect(await answers).toEqual(numbers.map((number) => [200, `answer ${number}`]))
  expect(scene.server.requests).toHaveLength(REQUESTS)
}, 180_000)
