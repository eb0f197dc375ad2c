import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Logger, silentLogger } from '@hermes/contracts'
import type { Subject } from '@hermes/contracts/policy'
import { createMemoryApprovalStore } from '@hermes/safety'
import { testApprovalStore } from '@hermes/storage/testing'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../index.js'

let server: ModelServer
let temporary: Awaited<ReturnType<typeof temporaryHome>>
const open: Runtime[] = []

beforeEach(async () => {
  server = await startModelServer()
  temporary = await temporaryHome()
  await mkdir(join(temporary.path, 'home', '.hermes'), { recursive: true })
  await mkdir(join(temporary.path, 'work', 'dist'), { recursive: true })
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), 'approvals: {timeout: 1}\n')
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((runtime) => runtime.close()))
  await server.close()
  await temporary.remove()
})

async function openHome(options: { readonly logger?: Logger; readonly env?: Record<string, string> } = {}) {
  const runtime = await openRuntime({
    home: join(temporary.path, 'home', '.hermes'),
    userHome: join(temporary.path, 'home'),
    env: { PATH: process.env['PATH']!, ...options.env },
    cwd: join(temporary.path, 'work'),
    user: 'ada',
    tempDir: temporary.path,
    logger: options.logger ?? silentLogger,
  })
  open.push(runtime)
  return runtime
}

const subject: Subject = { sessionId: 's', platform: 'test', agentPath: ['root'], origin: 'model', tainted: false }
const spawn = (command: string) =>
  ({ type: 'spawn', command, cwd: join(temporary.path, 'work'), backend: 'local' }) as const
const dist = () => join(temporary.path, 'work', 'dist')

it('parks a run whose question nobody answers; answered from another process it goes on', async () => {
  server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf dist' } }] }, { text: 'Gone.' })
  const first = await openHome()
  const { agent } = await first.createAgent({ baseUrl: server.baseUrl, model: 'm' })
  first.policy.listen(agent.sessionId, () => undefined)
  const parked = await agent.run('Clean up.').result
  expect(parked).toMatchObject({ status: 'parked', pending: [expect.any(String)] })
  expect(existsSync(dist())).toBe(true)
  await first.close()

  const other = await openHome()
  const [waiting] = await (await other.storage()).approvals.pending()
  expect(waiting).toMatchObject({
    id: parked.pending![0],
    question: { subject: { toolName: 'terminal', user: 'ada' } },
  })
  expect(await other.policy.answer(waiting!.id, 'once', 'ada')).toBe(true)

  const last = await openHome()
  const storage = await last.storage()
  const session = (await storage.sessions.get(agent.sessionId))!
  const resumed = await last.createAgent({ session, baseUrl: server.baseUrl, model: 'm' })
  expect(await resumed.agent.run({ resume: true }).result).toMatchObject({ status: 'completed', text: 'Gone.' })
  expect(existsSync(dist())).toBe(false)
  expect(await storage.approvals.pending()).toEqual([])
  await last.close()

  const audit = await (await (await openHome()).storage()).audit.list({ toolName: 'terminal' })
  expect(audit.map(({ decision, rule, by }) => ({ decision, rule, by })).reverse()).toEqual([
    { decision: 'ask', rule: 'recursive-delete', by: null },
    { decision: 'parked', rule: 'recursive-delete', by: null },
    { decision: 'allow', rule: 'recursive-delete', by: 'ada' },
  ])
})

it('writes "always" of another process into permissions.yaml, where it counts at once', async () => {
  const [first, other] = [await openHome(), await openHome()]
  first.policy.listen('*', () => undefined)
  const requested = await first.policy.decide(spawn('rm -rf dist'), subject)
  if (requested.type !== 'ask') throw new Error('expected a question')
  await other.policy.answer(requested.approvalId, 'always')
  expect(await readFile(join(temporary.path, 'home', '.hermes', 'permissions.yaml'), 'utf8')).toBe(
    `terminal(rm -rf dist) in "${join(temporary.path, 'work')}": allow\n`,
  )
  expect(await first.policy.settled(requested.approvalId)).toMatchObject({ type: 'allow', choice: 'always' })
  const again = await first.policy.decide(spawn('rm -rf dist'), { ...subject, sessionId: 'another' })
  expect(again.type).toBe('allow')
})

it('forbids what approvals.deny of config.yaml forbids by now, and what it did when it was opened', async () => {
  const config = (deny: string) =>
    writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), `approvals: {timeout: 1, deny: [${deny}]}\n`)
  await config("'touch *'")
  const { policy } = await openHome()
  const answers = async () => [
    (await policy.decide(spawn('touch a'), subject)).type,
    (await policy.decide(spawn('mkdir a'), subject)).type,
  ]
  expect(await answers()).toEqual(['deny', 'allow'])
  await config("'mkdir *', 'mv *'")
  expect(await answers()).toEqual(['deny', 'deny'])
  await config("'a mistake")
  expect(await answers()).toEqual(['deny', 'deny'])
})

it('writes no file outside HERMES_WRITE_SAFE_ROOT, whatever the rules say', async () => {
  await writeFile(join(temporary.path, 'home', '.hermes', '.env'), 'HERMES_WRITE_SAFE_ROOT=~/notes: ../link\n')
  await writeFile(join(temporary.path, 'home', '.hermes', 'permissions.yaml'), 'file.write: allow\n')
  await symlink(dist(), join(temporary.path, 'link'))
  const { policy } = await openHome()
  const mayWrite = async (path: string) => {
    const action = { type: 'write', path: join(temporary.path, path), operation: 'write', backend: 'local' } as const
    return (await policy.decide(action, subject)).type
  }
  for (const path of ['home/notes/a', 'link/a', 'work/dist/a']) expect(await mayWrite(path), path).toBe('allow')
  for (const path of ['work/a', 'home/a', 'home/notes-of-others']) expect(await mayWrite(path), path).toBe('deny')
})

it('writes decisions down by the time it is closed, without secrets of the home, and none for reading', async () => {
  const first = await openHome({ env: { OPENAI_API_KEY: 'sk-canary-0123456789' } })
  await first.policy.decide({ type: 'read', path: '/tmp/x', backend: 'local' }, subject)
  await first.policy.decide(spawn('echo sk-canary-0123456789'), subject)
  await first.policy.decide(spawn('rm -rf /'), subject)
  await first.close()
  const { audit } = await (await openHome()).storage()
  expect((await audit.list()).map(({ action, decision, rule }) => `${decision} ${rule}: ${action}`)).toEqual([
    'deny delete-system: Run rm -rf /',
    'allow default: Run echo [REDACTED]',
  ])
  expect(await audit.verify()).toMatchObject({ type: 'intact', records: 2 })
})

it('touches no store for what is only read', async () => {
  const runtime = await openHome()
  await runtime.policy.decide({ type: 'read', path: '/tmp/x', backend: 'local' }, subject)
  await runtime.close()
  expect(existsSync(join(temporary.path, 'home', '.hermes', 'state.db'))).toBe(false)
})

it('has a model review what would be asked when approvals are smart, and books it', async () => {
  const config = `approvals: {mode: smart, timeout: 1, smart_policy: Builds may go.}\nmodel: {default: m, base_url: '${server.baseUrl}'}\n`
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), config)
  server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf dist' } }] }, { text: 'APPROVE' })
  server.enqueue({ text: 'Gone.' })
  const runtime = await openHome()
  expect(runtime.problems).toEqual([])
  const { agent } = await runtime.createAgent({})
  expect(await agent.run('Clean up.').result).toMatchObject({ status: 'completed', text: 'Gone.' })
  expect(existsSync(dist())).toBe(false)
  expect(JSON.stringify(server.requests[1]!.body.messages)).toMatch(/Builds may go\..*rm -rf dist/)
  await runtime.close()
  const { audit, usage: ledger } = await (await openHome()).storage()
  expect(await audit.list({ toolName: 'terminal' })).toMatchObject([{ decision: 'allow', by: 'custom/m' }])
  expect(await ledger.totals({ by: 'purpose' })).toMatchObject([{ key: 'judge', calls: 1 }, { key: 'turn' }])
})

it('has it reviewed too what is lost in the workspace after a file was read, and not what is sent', async () => {
  const config = `approvals: {mode: smart, timeout: 1}\nmodel: {default: m, base_url: '${server.baseUrl}'}\n`
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), config)
  await writeFile(join(temporary.path, 'work', 'README'), 'Read by others.\n')
  const terminal = (command: string) => ({ toolCalls: [{ name: 'terminal', args: { command } }] })
  server.enqueue({ toolCalls: [{ name: 'read_file', args: { path: 'README' } }] })
  server.enqueue(terminal('rm -rf dist'), { text: 'APPROVE' }, terminal('git push origin main'), { text: 'Gone.' })
  const { agent } = await (await openHome()).createAgent({})
  expect(await agent.run('Clean up.').result).toMatchObject({ status: 'completed', text: 'Gone.' })
  expect(existsSync(dist())).toBe(false)
  const reviewed = JSON.stringify(server.requests[2]!.body.messages)
  expect(reviewed).toContain('rm -rf dist')
  expect(reviewed).not.toContain('Read by others')
  expect(JSON.stringify(server.requests[4]!.body.messages)).toContain('outside-text-send')
})

it('asks a person when the model that reviews fails', async () => {
  const config = `approvals: {mode: smart}\nmodel: {default: m, base_url: '${server.baseUrl}'}\n`
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), config)
  server.enqueue({ fault: 'status', status: 401 })
  const runtime = await openHome()
  runtime.policy.listen('*', () => undefined)
  expect(await runtime.policy.decide(spawn('rm -rf dist'), subject)).toMatchObject({ type: 'ask' })
  expect(server.requests).toHaveLength(1)
})

testApprovalStore({ create: () => ({ approvals: createMemoryApprovalStore() }) })

it('opens and closes addresses as config.yaml says, metadata services never, and says which range cannot be read', async () => {
  const config = [
    'security:',
    '  allowed_ranges: [198.18.0.0/15, 100.64.0.0/99]',
    '  website_blocklist: {enabled: true, domains: [bad.example]}',
  ].join('\n')
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), config)
  const { policy, problems } = await openHome()
  expect(problems).toEqual([
    'security.allowed_ranges: "100.64.0.0/99" is no range such as 198.18.0.0/15; it is left out.',
  ])
  const decided = async (url: string) => (await policy.decide({ type: 'fetch', url, method: 'GET' }, subject)).type
  expect(await decided('http://198.18.3.4/')).toBe('allow')
  expect(await decided('http://100.64.0.1/')).toBe('deny')
  expect(await decided('https://fine.example/bad.example')).toBe('allow')
  for (const url of ['https://bad.example', 'https://bad.example/x', 'http://www.bad.example:81/x'])
    expect(await decided(url)).toBe('deny')
  expect((await policy.decide(spawn('curl https://bad.example/x'), subject)).type).toBe('deny')

  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), 'security: {allow_private_urls: true}\n')
  const open = await openHome()
  const here = async (url: string) => (await open.policy.decide({ type: 'fetch', url, method: 'GET' }, subject)).type
  expect(await here('http://localhost:8080/')).toBe('allow')
  expect(await here('http://192.168.1.1/')).toBe('allow')
  expect(await here('http://169.254.169.254/')).toBe('deny')
})

it('closes domains however config.yaml writes them, and says which is none', async () => {
  const domains = ['Bad.Example', ' https://worse.example/page ', '*.b\u00fccher.example.', '', 'not one']
  const config = { security: { website_blocklist: { enabled: true, domains } } }
  await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), JSON.stringify(config))
  const { policy, problems } = await openHome()
  expect(problems).toEqual([
    'security.website_blocklist.domains: "" is no domain such as example.com; it closes nothing.',
    'security.website_blocklist.domains: "not one" is no domain such as example.com; it closes nothing.',
  ])
  const decided = async (url: string) =>
    (await policy.decide({ type: 'fetch', url: new URL(url).href, method: 'GET' }, subject)).type
  const closed = [
    'https://bad.example',
    'https://bad.example./x',
    'http://a.worse.example',
    'https://b\u00fccher.example/?a',
  ]
  for (const url of closed) expect(await decided(url), url).toBe('deny')
  for (const url of ['https://fine.example', 'https://notbad.example']) expect(await decided(url), url).toBe('allow')
})

it.each([
  ['backend: docker', 'docker', 'allow'],
  ['backend: modal', 'modal', 'allow'],
  ['{backend: docker, docker_mount_cwd_to_workspace: true}', 'docker', 'deny'],
  ['{backend: docker, docker_volumes: ["/srv:/srv"]}', 'docker', 'deny'],
  ['{backend: modal, sync_folders: ["/srv:/srv"]}', 'modal', 'deny'],
  ['{backend: modal, sync_folders: ["/srv:/srv:ro"]}', 'modal', 'allow'],
  ['backend: ssh', 'ssh', 'deny'],
  ['backend: docker', 'local', 'deny'],
])(
  'asks about the machine itself unless it is made for the agent: %s, a command on %s',
  async (terminal, backend, expected) => {
    const text = terminal.startsWith('{') ? `terminal: ${terminal}\n` : `terminal: {${terminal}}\n`
    await writeFile(join(temporary.path, 'home', '.hermes', 'config.yaml'), text)
    const { policy, problems } = await openHome()
    expect(problems).toEqual([])
    expect((await policy.decide({ ...spawn('sudo apt-get install -y jq'), backend }, subject)).type).toBe(expected)
  },
)

it('loosens nothing by a mistake in config.yaml: the last good copy and what can be read count, and without them all asks', async () => {
  const config = join(temporary.path, 'home', '.hermes', 'config.yaml')
  const rules = join(temporary.path, 'home', '.hermes', 'permissions.yaml')
  await writeFile(rules, 'terminal(rm *): allow\nterminal(git push*): deny\n')
  const decided = async () => {
    const { policy, problems } = await openHome()
    policy.listen('*', () => undefined)
    const types = ['true', 'rm -rf dist', 'git push', 'make deploy'].map(
      async (command) => (await policy.decide(spawn(command), subject)).type,
    )
    return { decisions: await Promise.all(types), problem: problems[0] }
  }
  await writeFile(config, 'approvals: {mode: off, deny: ["make deploy*"\n')
  const unread = await decided()
  expect(unread.decisions).toEqual(['ask', 'ask', 'deny', 'deny'])
  expect(unread.problem).toMatch(/config\.yaml:\d+:\d+: .* Until it is fixed, every action asks\.$/)
  await writeFile(config, 'timezone: UTC\n')
  expect((await decided()).decisions).toEqual(['allow', 'allow', 'deny', 'allow'])
  await writeFile(config, 'approvals: {mode: off, deny: ["make deploy*"]}\ntimezone: [UTC\n')
  expect((await decided()).decisions).toEqual(['allow', 'allow', 'deny', 'deny'])
})
