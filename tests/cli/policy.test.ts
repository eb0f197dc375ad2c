// What the agent may do: rules by hand, decisions explained, questions answered from another terminal, and the trail of it all.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()
const hermes = (...args: string[]): Promise<CliResult> => runCli(args, { home: scene.home, cwd: scene.cwd })
const chat = (...args: string[]) => hermes('chat', '--base-url', scene.server.baseUrl, '-m', 'm', ...args)
const rulesFile = () => join(scene.home, 'permissions.yaml')
const calls = (command: string) => ({ toolCalls: [{ name: 'terminal', args: { command } }] })
const openDatabase = (home: string) => {
  const Database = createRequire(new URL('../../packages/storage/package.json', import.meta.url))('better-sqlite3')
  return new Database(join(home, 'state.db'))
}
const lastResult = () => String(scene.server.requests.at(-1)!.body.messages.at(-1)!.content)

it('adds, lists, explains and removes rules, and runs by them', async () => {
  const { server } = scene
  expect(await hermes('permissions')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^approvals\.mode: ask\nreach their registries without a question .*: npm ci, /),
    stderr: "No rules yet. Add one: hermes permissions add 'terminal(git push*)' ask\n",
  })
  for (const [pattern, effect] of [
    ['terminal.*', 'allow'],
    ['terminal(touch *)', 'deny'],
  ])
    expect(await hermes('permissions', 'add', pattern!, effect!)).toMatchObject({ exitCode: 0, stderr: '' })
  const { stdout } = await hermes('permissions', 'list')
  expect(stdout).toContain(
    `1  allow  terminal.*         ${rulesFile()}:1:1\n2  deny   terminal(touch *)  ${rulesFile()}:2:1\napprovals.mode: ask\n`,
  )
  const explained = await hermes('permissions', 'explain', 'touch x')
  expect(explained.stdout).toContain(
    `deny  Run touch x\n  The permission rule "terminal(touch *): deny" forbids it. (${rulesFile()}:2:1)\n`,
  )
  expect(explained.stdout).toContain(
    `  terminal.*: allow (${rulesFile()}:1:1)\n    it matches, but "terminal(touch *): deny" comes later or is stricter\n`,
  )
  server.enqueue(calls('touch x'), { text: 'No.' })
  await chat('-q', 'Touch it.')
  expect(lastResult()).toContain('Not permitted (terminal(touch *))')
  expect(await hermes('permissions', 'remove', 'terminal(touch *)')).toMatchObject({
    exitCode: 0,
    stdout: 'Removed terminal(touch *).\n',
  })
  server.enqueue(calls('touch x'), { text: 'Yes.' })
  await chat('-q', 'Touch it.')
  expect(existsSync(join(scene.cwd, 'x'))).toBe(true)
})

it('explains writes through links, reads, addresses, other surfaces and tools, as JSON too', async () => {
  const { home, cwd } = scene
  await mkdir(home, { recursive: true })
  await writeFile(rulesFile(), "'web.* on gateway': deny\n'browser.*': deny\n'browsr.*': deny\n")
  await symlink(home, join(cwd, 'link'))
  const explain = async (...args: string[]) =>
    JSON.parse((await hermes('permissions', 'explain', ...args, '--json')).stdout) as Record<string, unknown>
  expect(await explain('write link/auth.json')).toMatchObject({ decision: 'deny', rule: 'hermes-secrets' })
  expect(await explain('write', 'new/file.txt')).toMatchObject({
    decision: 'allow',
    action: `Write ${cwd}/new/file.txt`,
  })
  expect(await explain('read ~/notes')).toMatchObject({ decision: 'allow' })
  expect(await explain('fetch http://169.254.169.254/')).toMatchObject({ decision: 'deny' })
  expect(await explain('fetch https://example.com/', '--surface', 'gateway')).toMatchObject({
    decision: 'deny',
    source: `${rulesFile()}:1:1`,
  })
  expect(await explain('fetch https://example.com/', '--tool', 'browser_click')).toMatchObject({ rule: 'browser.*' })
  expect(await explain('rm -rf build')).toMatchObject({ decision: 'ask', rule: 'recursive-delete', source: null })
  expect(await explain('rm -rf build', '--yolo')).toMatchObject({ decision: 'allow', rule: 'mode-off' })
  expect((await hermes('permissions', 'list')).stderr).toContain(
    'permissions.yaml:3:1: "browsr.*" names nothing known;',
  )
  expect(await hermes('permissions', 'explain', 'fetch', 'nowhere')).toMatchObject({ exitCode: 2 })
})

it('asks about all that a rule which cannot be read may have been meant to deny, and says where it is at every start', async () => {
  const file = rulesFile()
  await mkdir(scene.home, { recursive: true })
  await writeFile(file, '"*": allow\nterminal(touch *: deny\n')
  const line = `hermes: ${file}:2:1: "terminal(touch *" is not a pattern; write a name such as terminal.* or terminal(git push*). Until it is fixed, everything terminal is about asks.\n`
  scene.server.enqueue(calls('touch x'), { text: 'No.' })
  const { stderr, exitCode } = await chat('-q', 'x')
  expect([stderr.startsWith(line), exitCode]).toEqual([true, 0])
  expect(lastResult()).toContain('cannot be read, and asks until it is fixed')
  const explained = JSON.parse((await hermes('permissions', 'explain', '--json', 'touch x')).stdout)
  expect(explained).toMatchObject({ decision: 'ask', source: `${file}:2:1` })
  expect((await hermes('doctor', '--offline')).stdout).toContain(line.replace('hermes: ', 'warn  '))
})

it.each([
  [['permissions', 'add', 'file.wirte', 'deny'], 'file.write may be meant'],
  [['permissions', 'add', 'terminal.*', 'maybe'], 'Allowed choices are allow, ask, deny'],
  [['permissions', 'remove', 'terminal.*'], 'has no rule terminal.*'],
  [['approvals', 'answer', 'abc', 'once'], 'Nothing waits for an answer under abc'],
  [['approvals', 'answer', 'abc', 'maybe'], 'Allowed choices are once, session, always, deny'],
  [['audit', 'list', '-n', '0'], '--limit takes a whole number'],
  [['audit', 'list', '--decision', 'maybe'], 'Allowed choices'],
])('answers %j in one line with exit code 2', async (args, text) => {
  const { exitCode, stderr, stdout } = await hermes(...args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(text)])
})

it('reports a file that contradicts itself with both lines, and goes by the last match', async () => {
  const { home } = scene
  await mkdir(home, { recursive: true })
  await writeFile(rulesFile(), "'terminal(git pull*)': deny\n# later\n'terminal.*': allow\n")
  const { stdout, stderr } = await hermes('permissions', 'explain', 'git pull')
  expect(stdout).toMatch(/^allow {2}Run git pull\n/)
  expect(stderr).toBe(
    `hermes: ${rulesFile()}:1:1: "terminal(git pull*): deny" never applies: the later "terminal.*: allow" (${rulesFile()}:3:1) covers all it is about. Move it below, or remove one.\n`,
  )
})

it('has doctor say which rules never apply', async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(rulesFile(), "'web': deny\n'*': allow\n")
  expect((await hermes('doctor', '--offline')).stdout).toContain(`${rulesFile()}:1:1: "web: deny" never applies: `)
})

it('keeps a trail of what was decided, which shows when somebody changed it', async () => {
  const { server, home } = scene
  server.enqueue(
    { toolCalls: [{ name: 'read_file', args: { path: 'nothing' } }] },
    calls('echo hi'),
    calls('rm -rf /'),
    { text: 'Done.' },
  )
  await chat('-q', 'Try.')
  const { stdout } = await hermes('audit')
  const listed = stdout.split('\n').filter((line) => line.startsWith('#'))
  // Where commands are isolated this one would have to leave for what it wants.
  const shown = (line: string) =>
    line.replace(/ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, '').replace(' outside the isolation:', '')
  expect(listed.map(shown)).toEqual(['#1  allow   Run echo hi', '#2  deny    Run rm -rf /'])
  expect(stdout).toContain('by delete-system; tool terminal; ')
  const denied = (await hermes('audit', 'list', '--decision', 'deny', '--json')).stdout
  expect(JSON.parse(denied)).toMatchObject({ seq: 2, surface: 'oneshot', rule: 'delete-system', toolName: 'terminal' })
  const intact = await hermes('audit', 'verify')
  expect(intact).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Intact: 2 records\.\nHead [\da-f]{64}: /),
  })
  expect((await hermes('audit', 'verify', '--head', 'beef')).exitCode).toBe(1)

  const database = openDatabase(home)
  database.exec("UPDATE hermes_audit SET record = replace(record, 'rm -rf /', 'ls') WHERE seq = 2")
  database.close()
  expect(await hermes('audit', 'verify')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^Broken at record #2\. Its hash does not fit/),
  })
})

it('keeps credentials behind a linked folder from being moved, removed, written and read, with --yolo too', async () => {
  const { server, home, cwd } = scene
  const keys = join(dirname(home), '.ssh')
  for (const folder of [keys, home]) await mkdir(folder, { recursive: true })
  for (const file of [join(keys, 'id_rsa'), join(home, 'auth.json')]) await writeFile(file, '{}')
  await symlink(keys, join(cwd, 'keys'))
  await symlink(home, join(cwd, 'home'))
  await writeFile(join(cwd, 'a.txt'), 'one\n')
  const patches = [
    'Move File: keys/id_rsa -> mine',
    'Move File: home/auth.json -> mine',
    'Delete File: keys/id_rsa',
    'Move File: a.txt -> keys/authorized_keys',
    'Update File: home/auth.json\n-{}\n+{"a": 1}',
  ]
  for (const patch of patches) server.enqueue({ toolCalls: [{ name: 'patch', args: { patch: `*** ${patch}` } }] })
  server.enqueue({ toolCalls: [{ name: 'write_file', args: { path: 'keys/authorized_keys', content: 'mine' } }] })
  server.enqueue({ toolCalls: [{ name: 'read_file', args: { path: 'home/auth.json' } }] }, { text: 'No.' })
  await chat('--yolo', '-q', 'Get me the keys.')
  const results = server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool')
  expect(results).toHaveLength(patches.length + 2)
  for (const { content } of results)
    expect(content).toMatch(/^Not permitted \((?:credential-read|credential-write|hermes-secrets)\)/)
  expect([await readdir(keys), (await readdir(cwd)).sort()]).toEqual([['id_rsa'], ['a.txt', 'home', 'keys']])
  expect(await readFile(join(home, 'auth.json'), 'utf8')).toBe('{}')
})

it.each(['deny', 'park'] as const)('keeps what a single query asks; the answer counts later (%s)', async (mode) => {
  const { server, home, cwd } = scene
  await mkdir(join(cwd, 'build'))
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'config.yaml'), `approvals: {single_query_mode: ${mode}}\n`)
  const command = calls('rm -rf build')
  server.enqueue(command, ...(mode === 'deny' ? [{ text: 'I may not.' }, command] : []), { text: 'It is gone.' })
  const first = await chat('-q', 'Clean up.')
  const { id, question } = JSON.parse((await hermes('approvals', 'list', '--json')).stdout) as {
    id: string
    question: { subject: { sessionId: string } }
  }
  const answering = `hermes approvals answer ${id.slice(0, 8)} yes`
  if (mode === 'deny') expect(first).toMatchObject({ exitCode: 0, stdout: 'I may not.\n' })
  else expect(first).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining(answering) })
  expect((await readdir(cwd)).sort()).toEqual(['build'])
  const { sessionId } = question.subject
  expect((await hermes('approvals', 'answer', id, 'once')).stdout).toContain(`hermes -r ${sessionId}\n`)
  const again = mode === 'deny' ? ['-q', 'Try again.'] : []
  expect(await chat('-r', sessionId, ...again)).toMatchObject({ exitCode: 0, stdout: 'It is gone.\n' })
  expect(await readdir(cwd)).toEqual([])
  expect((await hermes('approvals')).stderr).toBe('Nothing waits for an answer.\n')
})

it('makes nothing of the trail when only the chat was used', async () => {
  scene.server.enqueue({ text: 'Hi.' })
  await chat('-q', 'Hello.')
  expect(await hermes('audit')).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: 'No such decision was written down.\n',
  })
  expect(await hermes('audit', 'verify')).toMatchObject({ exitCode: 0, stdout: 'Intact: 0 records.\n' })
  expect(await hermes('approvals')).toMatchObject({ exitCode: 0, stderr: 'Nothing waits for an answer.\n' })
  expect(await readFile(rulesFile(), 'utf8').catch(() => null)).toBeNull()
})

it('prunes old decisions, and verifies what stays', async () => {
  scene.server.enqueue(calls('rm -rf build'), { text: 'No.' })
  await chat('-q', 'Clean up.')
  expect(await hermes('audit', 'prune', '--days', '30', '--yes')).toMatchObject({ stdout: 'Deleted 0 decisions.\n' })
  const database = openDatabase(scene.home)
  const { record } = database.prepare('SELECT record FROM hermes_audit WHERE seq = 1').get() as { record: string }
  const old = JSON.stringify({ ...(JSON.parse(record) as object), atMs: 1_000 })
  const hash = createHash('sha256').update(`\n1\n${old}`).digest('hex')
  database.prepare('UPDATE hermes_audit SET at_ms = 1000, record = ?, hash = ? WHERE seq = 1').run(old, hash)
  database.close()
  expect(await hermes('audit', 'prune', '--days', '30')).toMatchObject({ exitCode: 2, stdout: '' })
  expect(await hermes('audit', 'prune', '--days', '30', '--yes')).toMatchObject({ stdout: 'Deleted 1 decisions.\n' })
  expect((await hermes('audit', 'verify')).stdout).toMatch(/^Intact: 1 records, 1 older ones pruned on the record\./)
  expect((await hermes('audit')).stdout).toContain('Prune the audit trail: records older')
})

needs('tmux', hasTmux)('a question at the keyboard', () => {
  it('says that a helper asks; grants for the session are listed and revoked', async () => {
    const { server, home, cwd } = scene
    await mkdir(join(cwd, 'build'))
    const isChild = (request: CapturedRequest) => JSON.stringify(request.body.messages[0]).includes('another agent')
    server.setHandler((request) => {
      const isDone = request.body.messages.at(-1)!.role === 'tool'
      if (isChild(request)) return isDone ? { text: 'Gone.' } : calls('rm -rf build')
      return isDone
        ? { text: 'Handed on.' }
        : { toolCalls: [{ name: 'delegate_task', args: { goal: 'Remove the folder build.' } }] }
    })
    const args = ['--base-url', server.baseUrl, '-m', 'm']
    await using terminal = await openTerminal(args, { home, cwd, columns: 100 })
    const say = async (line: string) => {
      await terminal.type(line)
      await terminal.press('Enter')
    }
    await terminal.shows(/>$/)
    await say('/approvals')
    await terminal.shows('Nothing waits for an answer, and nothing is allowed for this session.')
    await say('Clean up.')
    await terminal.shows('A helper (task-1) asks: Run this')
    await terminal.press('s', 'Enter')
    await terminal.shows(/Handed on\.\n>$/)
    await say('/approvals')
    await terminal.shows('Allowed for this session: recursive-delete (Run rm -rf build).')
    await say('/approvals revoke session')
    await terminal.shows('The grants of this session are revoked')
    await say('/approvals revoke abc')
    await terminal.shows('Nothing waits for an answer under abc.')
  })

  it('is answered from another terminal while it waits', async () => {
    const { server, home, cwd } = scene
    await mkdir(join(cwd, 'build'))
    server.enqueue(calls('rm -rf build'), { text: 'Gone.' })
    const args = ['--base-url', server.baseUrl, '-m', 'm']
    await using terminal = await openTerminal(args, { home, cwd, columns: 80 })
    await terminal.shows(/>$/)
    await terminal.type('Clean up.')
    await terminal.press('Enter')
    await terminal.shows('❯ [y] yes, once')
    const listed = (await hermes('approvals', 'list', '--json')).stdout
    const { id, question } = JSON.parse(listed) as { id: string; question: { summary: string } }
    expect(question.summary).toBe('Run rm -rf build: it deletes folders with everything in them')
    expect((await hermes('approvals')).stdout).toContain(`${id.slice(0, 8)}  `)
    expect(await hermes('approvals', 'answer', id.slice(0, 8), 'yes')).toMatchObject({ stdout: 'Answered: once.\n' })
    await terminal.shows(/Gone\.\n>$/)
    expect(existsSync(join(cwd, 'build'))).toBe(false)
    expect((await hermes('audit', 'list', '--decision', 'allow')).stdout).toContain('answered by ')
    expect((await hermes('approvals')).stderr).toBe('Nothing waits for an answer.\n')
  })

  it('of the model outlives its process: listed and answered elsewhere, the answer is given once', async () => {
    const { server, home, cwd } = scene
    const clarify = (question: string) => ({
      toolCalls: [{ name: 'clarify', args: { question, choices: ['red', 'blue'] } }],
    })
    const flags = ['--base-url', server.baseUrl, '-m', 'm']
    const questions = ['Which colour?', 'And which shade?', 'And which finish?']
    server.enqueue(...questions.map(clarify), { text: 'Done.' })
    await using terminal = await openTerminal(flags, { home, cwd, columns: 80 })
    await terminal.shows(/>$/)
    await terminal.type('Paint it.')
    await terminal.press('Enter')
    await terminal.shows('Which colour?')
    const listed = async () => {
      const { stdout } = await hermes('approvals', 'list', '--json')
      return JSON.parse(stdout) as { id: string; sessionId: string; type: string; question: { question: string } }
    }
    const first = await listed()
    expect(await hermes('approvals', 'answer', first.id, '2')).toMatchObject({ stdout: 'Answered: blue.\n' })
    await terminal.shows('And which shade?')
    await terminal.signal('KILL')
    const second = await listed()
    expect(second).toMatchObject({
      type: 'question',
      sessionId: first.sessionId,
      question: { choices: ['red', 'blue'] },
    })
    expect((await hermes('approvals')).stdout).toContain('And which shade?')
    expect((await hermes('approvals', 'answer', second.id, 'dark', 'green')).stdout).toContain('Answered: dark green.')
    expect((await hermes('approvals', 'answer', second.id, 'red')).exitCode).toBe(2)
    await using resumed = await openTerminal(['-r', first.sessionId, ...flags], { home, cwd, columns: 80 })
    await resumed.shows('And which finish?')
    await resumed.signal('KILL')
    await hermes('approvals', 'answer', (await listed()).id, 'matt')
    expect(await chat('-r', first.sessionId)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    const results = server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool')
    const answers = ['blue', 'dark green', 'matt'].map((answer) => `The user answered: ${answer}`)
    expect(results.map(({ content }) => content)).toEqual(answers)
    expect((await hermes('approvals')).stderr).toBe('Nothing waits for an answer.\n')
  })

  it('parks the run when nobody answers; answered from elsewhere it goes on where it is resumed', async () => {
    const { server, home, cwd } = scene
    const open = (...args: string[]) =>
      openTerminal([...args, '--base-url', server.baseUrl, '-m', 'm'], { home, cwd, columns: 100 })
    const parked = 'Nobody answered in time. Answer with hermes approvals, or say anything to be asked again.'
    await mkdir(join(cwd, 'one'))
    await mkdir(join(cwd, 'two'))
    await mkdir(home, { recursive: true })
    await writeFile(
      join(home, 'config.yaml'),
      'approvals: {timeout: 1}\nauxiliary: {title_generation: {enabled: false}}\n',
    )
    server.enqueue(calls('rm -rf one'), calls('rm -rf two'), { text: 'Both are gone.' })
    const answer = async () => {
      const { id, question } = JSON.parse((await hermes('approvals', 'list', '--json')).stdout) as {
        id: string
        question: { subject: { sessionId: string } }
      }
      const { sessionId } = question.subject
      const text = `Answered: once. The session goes on with: hermes -r ${sessionId}\n`
      expect(await hermes('approvals', 'answer', id, 'once')).toMatchObject({ exitCode: 0, stdout: text })
      return sessionId
    }
    {
      await using terminal = await open()
      await terminal.shows(/>$/)
      await terminal.type('Clean up.')
      await terminal.press('Enter')
      await terminal.shows(parked)
      await terminal.press('C-d')
      await terminal.exitCode()
    }
    expect((await readdir(cwd)).sort()).toEqual(['one', 'two'])
    const sessionId = await answer()
    {
      await using terminal = await open('-r', sessionId)
      await terminal.shows(parked)
      expect(await readdir(cwd)).toEqual(['two'])
      await terminal.press('C-d')
      await terminal.exitCode()
    }
    await answer()
    expect(await chat('-r', sessionId)).toMatchObject({ exitCode: 0, stdout: 'Both are gone.\n' })
    expect(await readdir(cwd)).toEqual([])
  })
})

it('lets no tool past a policy that denies everything, and writes each refusal down', async () => {
  const { server, home, cwd } = scene
  await mkdir(home, { recursive: true })
  await writeFile(rulesFile(), "'*': deny\n")
  await writeFile(join(cwd, 'old.txt'), 'old\n')
  const attempts = [
    { name: 'terminal', args: { command: 'touch made' } },
    { name: 'terminal', args: { command: 'touch made', background: true } },
    { name: 'terminal', args: { command: 'touch made', pty: true } },
    { name: 'execute_code', args: { language: 'javascript', code: "require('fs').writeFileSync('made', '')" } },
    { name: 'write_file', args: { path: 'made', content: 'x' } },
    { name: 'patch', args: { path: 'old.txt', old_string: 'old', new_string: 'new' } },
    { name: 'read_file', args: { path: 'old.txt' } },
    { name: 'search_files', args: { pattern: 'old' } },
  ]
  server.enqueue(...attempts.map((toolCall) => ({ toolCalls: [toolCall] })), { text: 'Nothing worked.' })
  expect(await chat('-q', 'Try everything.', '-t', 'all', '--yolo')).toMatchObject({ exitCode: 0 })
  const results = server.requests.slice(1).map(({ body }) => String(body.messages.at(-1)!.content))
  expect(results).toHaveLength(attempts.length)
  for (const result of results) expect(result).toContain('Not permitted (*)')
  expect(await readdir(cwd)).toEqual(['old.txt'])
  expect(await readFile(join(cwd, 'old.txt'), 'utf8')).toBe('old\n')
  const audit = (await hermes('audit', 'list', '--decision', 'deny', '--json')).stdout.trim().split('\n')
  expect(audit.map((line) => (JSON.parse(line) as { toolName: string }).toolName)).toEqual(
    attempts.map(({ name }) => name),
  )
})
