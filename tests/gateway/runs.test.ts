// Runs that a kill interrupts, in the gateway as people run it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
const WAIT = { timeout: 30_000, interval: 50 }
let gateway: Gateway

const start = async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
}
beforeAll(start)
afterAll(() => gateway.stop())

async function begin(input: string, key: string) {
  const headers = { authorization: `Bearer ${KEY}`, 'idempotency-key': key }
  const answer = await gateway.request('/runs', { headers, body: JSON.stringify({ input }) })
  return (await answer.json()) as { readonly run_id: string; readonly status: string }
}

const get = async (id: string) =>
  (await (await gateway.request(`/runs/${id}`)).json()) as { readonly status: string; readonly output: string | null }

it('is taken up by the next process where this one is killed, in a call of the model or after a command, and is asked once', async () => {
  const { server } = scene
  // The first call never ends; the next process makes it again. The second one has its command behind it when its model call hangs.
  let isKilled = false
  server.setHandler(({ body }) => {
    const text = JSON.stringify(body.messages)
    const hangs = () => (isKilled ? { text: 'Here I am.' } : new Promise<never>(() => undefined))
    if (!text.includes('Write it down.')) return hangs()
    if (body.messages.some(({ role }) => role === 'tool')) return hangs()
    return { toolCalls: [{ name: 'terminal', args: { command: 'echo once >> written.txt' } }] }
  })
  const before = server.requests.length
  const both = await Promise.all([begin('Just answer.', 'first'), begin('Write it down.', 'second')])
  await server.waitForRequests(before + 3)
  gateway.child.kill('SIGKILL')
  await new Promise((resolve) => gateway.child.once('close', resolve))
  isKilled = true
  await start()
  for (const [index, { run_id: id }] of both.entries()) {
    await expect.poll(async () => (await get(id)).status, WAIT).toBe('completed')
    expect(await get(id)).toMatchObject({ output: 'Here I am.' })
    expect(await begin(['Just answer.', 'Write it down.'][index]!, ['first', 'second'][index]!)).toMatchObject({
      run_id: id,
      status: 'completed',
    })
  }
  for (const words of ['Just answer.', 'Write it down.']) {
    const last = server.requests.findLast(({ body }) => JSON.stringify(body.messages).includes(words))!
    expect(JSON.stringify(last.body.messages.filter(({ role }) => role === 'user')).split(words)).toHaveLength(2)
  }
  expect(await readFile(join(scene.cwd, 'written.txt'), 'utf8')).toBe('once\n')
}, 90_000)
