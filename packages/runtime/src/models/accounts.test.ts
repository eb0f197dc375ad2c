// Twenty logins of one provider: each goes out in requests of the sessions, projects and profiles it was chosen for, and in no other.
import { mkdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises'
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
async function openHome(labels: readonly string[], more: object = {}) {
  const home = await temporaryHome()
  homes.push(home)
  const config = {
    model: { provider: 'lab', default: 'm', context_length: 100_000 },
    providers: { lab: { base_url: server.baseUrl } },
    agent: { api_max_retries: 1, max_wait: 1 },
    terminal: { isolation: 'off' },
    ...more,
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const store = openCredentialStore({ path: join(home.path, 'auth.json') })
  for (const label of labels) await store.add({ provider: POOL, type: 'api-key', label, secret: keyOf(label) })
  const folder = async (name: string) => {
    await mkdir(join(home.path, name), { recursive: true })
    return realpath(join(home.path, name))
  }
  return { home: home.path, store, folder, open: (env = {}) => open(home.path, env) }
}

async function open(home: string, env: Readonly<Record<string, string>>): Promise<Runtime> {
  const world = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: home, user: 'u', tempDir: home }
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

it('goes wherever the session goes: to a mixture that its model asks, and to what is done of it once nobody has it open', async () => {
  const { open, folder, store } = await openHome(['first', 'second', 'third'], {
    moa: {
      presets: {
        both: { reference_models: [{ provider: 'lab', model: 'r' }], aggregator: { provider: 'lab', model: 'm' } },
      },
    },
    skills: { look_back: true },
  })
  const runtime = await open()
  const ready = await runtime.createAgent({ platform: 'cli', toolsets: ['moa'] })
  await ready.useAccount('second')
  server.enqueue({ toolCalls: [{ name: 'mixture_of_agents', args: { question: 'Solve word-of-mixtures.' } }] })
  await say(ready, 'Ask several.')
  // With so many calls that fail it is worth a look back.
  for (let call = 0; call < 6; call++) server.enqueue({ toolCalls: [{ name: 'missing', args: {} }] })
  await say(ready, 'word-of-reviews.')
  const before = server.requests.length
  await ready.close('left')
  expect(await runtime.doSessionJob('skill-review', ready.agent.sessionId)).toBe(true)
  expect(server.requests).toHaveLength(before + 1)
  // A mixture answers in this one, which can be told only by its project.
  await store.useInProject(POOL, 'third', await folder('deep'))
  const mixed = await runtime.createAgent({ provider: 'moa', model: 'both', cwd: await folder('deep') })
  await expect(mixed.useAccount('second')).rejects.toThrow('A mixture asks several providers.')
  await say(mixed, 'word-of-titles.')
  await mixed.close('left')
  await runtime.doSessionJob('session-title', mixed.agent.sessionId)
  expect([keysWith('word-of-mixtures'), keysWith('word-of-reviews'), keysWith('word-of-titles')]).toEqual([
    ['second'],
    ['second'],
    ['third'],
  ])
  expect(server.requests.filter(({ body }) => JSON.stringify(body).includes('word-of-titles'))).toHaveLength(3)
})

it('follows a choice in a session that was opened with the only key there was', async () => {
  const key = { providers: { lab: { base_url: server.baseUrl, key_env: 'LAB_KEY' } } }
  const { open, folder, store } = await openHome([], key)
  const runtime = await open({ LAB_KEY: keyOf('env') })
  const ready = await runtime.createAgent({})
  await say(ready, 'word-before.')
  await store.add({ provider: POOL, type: 'api-key', label: 'work', secret: keyOf('work') })
  await say(ready, 'word-between.')
  await store.useInProject(POOL, 'work', await folder('.'))
  await say(ready, 'word-chosen.')
  await store.remove(POOL, 'work')
  expect((await ready.agent.run('word-gone.').result).error?.message).toContain('The account "work"')
  expect(keysWith('word-gone')).toEqual([])
  // The whole conversation goes along each time: the last message is what counts.
  const sent = server.requests.map(({ body, headers }) => [
    /word-\w+(?=\.\W*$)/.exec(JSON.stringify(body.messages.findLast(({ role }) => role === 'user')))?.[0],
    String(headers['authorization']).slice(21),
  ])
  expect(sent).toEqual([
    ['word-before', 'env'],
    ['word-between', 'env'],
    ['word-chosen', 'work'],
  ])
})

it.each([
  ['no choices', '[]'],
  ['no choice for the folder', '{"FOLDER": "work"}'],
  ['no label', '{"FOLDER": {"custom:lab": null}}'],
])('asks nobody where auth.json has a choice that cannot be read: %s', async (_, projects) => {
  const { home, open, folder } = await openHome(['private', 'work'])
  const path = join(home, 'auth.json')
  const document = JSON.parse(await readFile(path, 'utf8'))
  document.project_accounts = JSON.parse(projects.replace('FOLDER', await folder('.')))
  await writeFile(path, JSON.stringify(document))
  const ready = await (await open()).createAgent({})
  expect((await ready.agent.run('Hello.').result).error?.message).toContain(`in ${path} is damaged`)
  await writeFile(path, JSON.stringify({ ...document, project_accounts: undefined }))
  expect(await say(ready, 'Hello again.')).toBe('completed')
  expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([`Bearer ${keyOf('private')}`])
})

it('finds the choice of a project whose folder was deleted, by the links that are left', async () => {
  const { home, open, folder, store } = await openHome(['first', 'second'])
  await store.useInProject(POOL, 'second', await folder("pro jects' own"))
  await symlink(await folder("pro jects' own"), join(home, 'link'))
  const runtime = await open()
  const ready = await runtime.createAgent({ cwd: join(home, 'link', 'gone') })
  await say(ready, 'word-of-a-folder.')
  expect(keysWith('word-of-a-folder')).toEqual(['second'])
  await store.remove(POOL, 'second')
  expect((await ready.agent.run('Hello.').result).error?.message).toContain(
    `hermes auth use ${POOL} default --project '${await realpath(home)}/pro jects'\\'' own'`,
  )
})

it('speaks of a chosen account that is cooling down or refused, and not of all keys', async () => {
  const { open, store } = await openHome(['a7', 'other'])
  const runtime = await open()
  const wordsOf = async (label: string) => {
    const ready = await runtime.createAgent({})
    await ready.useAccount(label)
    await ready.agent.run('Hello.').result
    return (await ready.agent.run('Hello again.').result).error?.message
  }
  expect(await wordsOf('a7')).toMatch(
    /^The account a7 of lab, chosen to be used alone, is cooling down until \S+Z\. To choose another: \/account NAME\./,
  )
  const elsewhere = { label: 'elsewhere', secret: keyOf('elsewhere'), baseUrl: 'https://elsewhere.example' }
  await store.add({ provider: POOL, type: 'api-key', ...elsewhere })
  expect(await wordsOf('elsewhere')).toBe(
    'The account elsewhere of lab, chosen to be used alone, cannot be used: hermes auth list says why. Choose another: /account NAME.',
  )
  expect(keysWith('Hello')).toEqual(['a7'])
})

it('says once that the choice for a folder that was renamed does not count any more', async () => {
  const { home, open, store, folder } = await openHome(['first', 'second'])
  await store.useInProject(POOL, 'second', await folder('code/old'))
  const runtime = await open()
  const noticesIn = async (cwd: string) => {
    const ready = await runtime.createAgent({ cwd })
    const notices: string[] = []
    for (const text of ['One.', 'Two.'])
      for await (const event of ready.agent.run(text)) if (event.type === 'notice') notices.push(event.text)
    return notices.filter((text) => text.includes('was chosen for'))
  }
  expect(await noticesIn(await folder('code/beside'))).toEqual([])
  await rename(join(home, 'code/old'), join(home, 'code/new'))
  const texts = await noticesIn(join(home, 'code/new'))
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain(`second of ${POOL} was chosen for ${await realpath(join(home, 'code'))}/old`)
  expect(await noticesIn(await folder('elsewhere'))).toEqual([])
  await store.useInProject(POOL, 'first', await folder('code/new'))
  expect(await noticesIn(await folder('code/new/deep'))).toEqual([])
})
