// Twenty logins of one provider: each goes out in requests of the sessions, projects and profiles it was chosen for, and in no other.
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openCredentialStore } from '@hermes/credential-pool'
import { startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

const POOL = 'custom:lab'
const keyOf = (label: string) => `canary-key-of-${label}`
let server: Awaited<ReturnType<typeof startModelServer>>
const homes: TemporaryHome[] = []
const runtimes: Runtime[] = []

/** A home that has these logins of the endpoint `lab`. */
async function openHome(labels: readonly string[]) {
  const home = await temporaryHome()
  homes.push(home)
  const config = {
    model: { provider: 'lab', default: 'm', context_length: 100_000 },
    providers: { lab: { base_url: server.baseUrl } },
    agent: { api_max_retries: 1, max_wait: 1 },
    terminal: { isolation: 'off' },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const store = openCredentialStore({ path: join(home.path, 'auth.json') })
  for (const label of labels) await store.add({ provider: POOL, type: 'api-key', label, secret: keyOf(label) })
  const folder = async (name: string) => {
    await mkdir(join(home.path, name), { recursive: true })
    return realpath(join(home.path, name))
  }
  return { home: home.path, store, folder, open: () => open(home.path) }
}

async function open(home: string): Promise<Runtime> {
  const world = { env: { PATH: process.env['PATH'] ?? '' }, cwd: home, user: 'u', tempDir: home }
  const runtime = await openRuntime({ home, userHome: home, ...world, yolo: true })
  runtimes.push(runtime)
  return runtime
}

/** The accounts whose keys went out with requests that mention `word`. */
const keysWith = (word: string) => [
  ...new Set(
    server.requests
      .filter(({ body }) => JSON.stringify(body).includes(word))
      .map(({ headers }) => String(headers['authorization']).replace('Bearer canary-key-of-', '')),
  ),
]
const say = async ({ agent }: ReadyAgent, text: string) => (await agent.run(text).result).status

beforeEach(async () => {
  server = await startModelServer()
  server.setHandler(({ headers }) =>
    headers['authorization'] === `Bearer ${keyOf('a7')}` ? { fault: 'status', status: 402 } : { text: 'Yes.' },
  )
})
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close()
  for (const home of homes.splice(0)) await home.remove()
  await server.close()
})

it('keeps twenty logins apart by session, project and profile, titles and tasks included', async () => {
  const labels = Array.from({ length: 16 }, (_, index) => `a${index}`)
  const work = await openHome(labels)
  const other = await openHome(['b0', 'b1', 'b2', 'b3'])
  const runtime = await work.open()
  const expected: [string, string][] = []
  const sessions: ReadyAgent[] = []
  for (const label of labels.slice(0, 8)) {
    const ready = await runtime.createAgent({})
    expect(await ready.useAccount(label)).toBe(label)
    sessions.push(ready)
    expected.push([`word-of-${label}.`, label])
  }
  for (const label of labels.slice(8, 15)) {
    const folder = await work.folder(label)
    await work.store.useInProject(POOL, label, folder)
    sessions.push(await runtime.createAgent({ cwd: await work.folder(`${label}/deep`) }))
    expected.push([`word-of-${label}.`, label])
  }
  const elsewhere = await other.open()
  sessions.push(await elsewhere.createAgent({}))
  expected.push(['word-of-b0.', 'b0'])

  const statuses = await Promise.all(sessions.map((ready, index) => say(ready, `Remember ${expected[index]![0]}`)))
  // The one that has no money left fails; no other stands in for it.
  expect(statuses.filter((status) => status !== 'completed')).toEqual(['failed'])
  // One of them is named once nobody has it open.
  await sessions[2]!.close('left')
  await Promise.all(
    sessions.map(({ agent }, index) =>
      (index === sessions.length - 1 ? elsewhere : runtime)
        .doSessionJob('session-title', agent.sessionId)
        .catch(() => false),
    ),
  )
  server.enqueue({ toolCalls: [{ name: 'delegate_task', args: { goal: 'Find word-of-a1. again.' } }] })
  await say(sessions[1]!, 'Hand it on.')
  expect(expected.map(([word]) => [word, keysWith(word)])).toEqual(expected.map(([word, label]) => [word, [label]]))
  expect(server.requests.length).toBeGreaterThan(sessions.length + 12)
})

it('switches within a session, keeps the choice when it is resumed, and takes it back', async () => {
  const { home, store, open, folder } = await openHome(['first', 'second', 'third'])
  const runtime = await open()
  const ready = await runtime.createAgent({})
  const { sessionId } = ready.agent
  await say(ready, 'in the home')
  await ready.useAccount('second')
  await say(ready, 'in the session')
  await expect(ready.useAccount('secnd')).rejects.toThrow('There are: first, second, third.')
  await ready.close('left')
  const session = (await (await runtime.storage()).sessions.get(sessionId))!
  const again = await runtime.createAgent({ session })
  expect(await again.account()).toBe('second')
  await say(again, 'after a resume')
  await store.useInProject(POOL, 'third', await folder('.'))
  await again.useAccount(null)
  await say(again, 'in the project')
  await store.remove(POOL, 'third')
  expect((await again.agent.run('gone').result).error?.message).toContain(
    `The account "third" of ${POOL}, chosen for the project ${await realpath(home)}, is not there any more.`,
  )
  await store.useInProject(POOL, null, await folder('.'))
  await say(again, 'in the home again')
  const lastWords = server.requests.map(({ body, headers }) => {
    const text = body.messages.findLast(({ role }) => role === 'user')
    return [
      /in the \w+(?: again)?|after a resume/.exec(JSON.stringify(text))?.[0],
      String(headers['authorization']).slice(21),
    ]
  })
  expect(lastWords).toEqual([
    ['in the home', 'first'],
    ['in the session', 'second'],
    ['after a resume', 'second'],
    ['in the project', 'third'],
    ['in the home again', 'first'],
  ])
})
