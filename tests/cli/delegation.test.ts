// Tasks for fresh agents, through the built program: what they see, what they may do, and what is left of them.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CapturedRequest, checkPrefix } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'
import { makeHostile } from '../support/hostile-repository.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const hermes = (...args: string[]): Promise<CliResult> => runCli(args, { home: scene.home, cwd: scene.cwd })
const chat = (...args: string[]) => hermes('chat', '--base-url', scene.server.baseUrl, '-m', 'm', ...args)
const isChild = ({ body }: Pick<CapturedRequest, 'body'>) =>
  String(body.messages[0]?.content).startsWith('You were started by another agent')
const requested = ({ body }: Pick<CapturedRequest, 'body'>) => JSON.stringify(body.messages)
const toolNames = ({ body }: CapturedRequest) =>
  ((body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)

it('lets fresh agents work side by side and brings back their answers', async () => {
  const { server, cwd } = scene
  await writeFile(join(cwd, 'a.txt'), 'alpha\n')
  server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    if (isChild(request)) {
      if (last.role === 'tool') return { text: `Read: ${String(last.content)}` }
      const path = requested(request).includes('first file') ? 'a.txt' : 'missing.txt'
      return { toolCalls: [{ name: 'read_file', args: { path } }] }
    }
    if (last.role === 'tool') return { text: 'Both are done.' }
    const tasks = [{ goal: 'Read the first file.' }, { goal: 'Read the second file.', context: 'It may be missing.' }]
    return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
  })
  const run = await chat('-q', 'Read both files.')
  expect(run).toMatchObject({ exitCode: 0, stdout: 'Both are done.\n' })
  expect(run.stderr).toContain('  1: read a.txt\n')
  expect(run.stderr).toContain('  2: read missing.txt\n')

  const children = server.requests.filter(isChild)
  expect(children).toHaveLength(4)
  for (const child of children) {
    expect(requested(child)).not.toContain('Read both files.')
    for (const blocked of ['clarify', 'memory', 'delegate_task']) expect(toolNames(child)).not.toContain(blocked)
    expect(toolNames(child)).toContain('terminal')
  }
  const parents = server.requests.filter((request) => !isChild(request))
  expect(parents).toHaveLength(2)
  expect(checkPrefix(parents[0]!, parents[1]!)).toBeNull()
  const result = String(parents[1]!.body.messages.at(-1)!.content)
  expect(result).toMatch(/Task 1 completed.*Read: 1\|alpha.*Task 2 completed.*missing\.txt/s)
  expect(server.violations).toEqual([])

  const listed = (await hermes('sessions', 'list', '--json')).stdout.trim().split('\n')
  expect(listed).toHaveLength(1)
  expect((await chat('-c', '-q', 'And now?')).exitCode).toBe(0)
  expect(requested(server.requests.at(-1)!)).toContain('Read both files.')
})

it('tells programs how far tasks and programs are, with --json', async () => {
  const { server, cwd } = scene
  await writeFile(join(cwd, 'a.txt'), 'alpha\n')
  const code = 'import { read_file } from "hermes_tools"\nfor (const _ of [1, 2]) await read_file("a.txt")'
  server.setHandler((request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    if (isChild(request))
      return isAfterTool ? { text: 'Read.' } : { toolCalls: [{ name: 'read_file', args: { path: 'a.txt' } }] }
    if (!isAfterTool) return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Read it.' } }] }
    return requested(request).includes('hermes_tools')
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'execute_code', args: { code, language: 'javascript' } }] }
  })
  const { stdout } = await chat('-q', 'Go.', '--json')
  const notified = stdout.split('\n').flatMap((line) => (line.includes('"tool-progress"') ? [JSON.parse(line)] : []))
  expect(notified).toMatchObject([
    {
      text: 'read a.txt',
      source: '1',
      data: { child: { id: '1', goal: 'Read it.', state: 'running', session_id: expect.any(String), tool_calls: 1 } },
    },
    { text: '1/1 calls', data: { calls_finished: 1, calls_made: 1 } },
    { text: '2/2 calls', data: { calls_finished: 2, calls_made: 2 } },
  ])
})

it('keeps a child within the tools of its parent, and its shell apart', async () => {
  const { server, cwd } = scene
  server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    if (isChild(request))
      return last.role === 'tool'
        ? { text: 'Moved.' }
        : { toolCalls: [{ name: 'terminal', args: { command: 'mkdir inner; cd inner; pwd' } }] }
    if (last.role !== 'tool')
      return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Move.', toolsets: ['all'] } }] }
    if (!requested(request).includes('> where.txt'))
      return { toolCalls: [{ name: 'terminal', args: { command: 'pwd > where.txt' } }] }
    return { text: 'Done.' }
  })
  await chat('-q', 'Go.', '-t', 'terminal,delegation')
  const child = server.requests.find(isChild)!
  expect(toolNames(child)).toEqual(['process', 'terminal'])
  expect(await readFile(join(cwd, 'where.txt'), 'utf8')).toBe(`${cwd}\n`)
})

it('denies a child what nobody can approve, and the child goes on', async () => {
  const { server, cwd } = scene
  await writeFile(join(cwd, 'keep.txt'), 'x')
  server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    if (!isChild(request))
      return last.role === 'tool'
        ? { text: String(last.content) }
        : { toolCalls: [{ name: 'delegate_task', args: { goal: 'Clean up.' } }] }
    return last.role === 'tool'
      ? { text: `I was told: ${String(last.content)}` }
      : { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf ../work/keep.txt /var/lib/x' } }] }
  })
  const run = await chat('-q', 'Go.')
  expect(run.stdout).toMatch(/The task completed.*I was told: Not permitted/s)
  expect(await readFile(join(cwd, 'keep.txt'), 'utf8')).toBe('x')
})

it('gives a task a git worktree of its own, and reports what would be merged', async () => {
  const { server, cwd } = scene
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' }).stdout
  git('init', '-q', '-b', 'main')
  await mkdir(join(cwd, 'sub'))
  await writeFile(join(cwd, 'sub', 'a.txt'), 'one\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  await writeFile(join(cwd, 'sub', 'a.txt'), 'not committed\n')
  let isCommitted = false
  const modes = new Set<number>()
  server.setHandler((request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    const [folder] = /\/tmp\/hermes-worktree-[\w-]+/.exec(JSON.stringify(request.body.messages)) ?? []
    if (isChild(request) && folder !== undefined) modes.add(statSync(folder).mode & 0o777)
    if (!isChild(request)) {
      if (isAfterTool) return { text: String(request.body.messages.at(-1)!.content) }
      const tasks = ['Change it.', 'Look at it.'].map((goal) => ({ goal, worktree: true }))
      return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
    }
    if (isAfterTool) {
      if (isCommitted) git('commit', '-q', '-a', '-m', 'meanwhile')
      return { text: 'Done.' }
    }
    const path = 'sub/a.txt'
    return requested(request).includes('Change it.')
      ? { toolCalls: [{ name: 'write_file', args: { path, content: 'two\n' } }] }
      : { toolCalls: [{ name: 'read_file', args: { path } }] }
  })
  const { stdout } = await chat('-q', 'Go.')
  expect(stdout).toMatch(
    /Task 1 completed .*\nDone\.\nIts changes are on branch (hermes\/task-\w+):\n sub\/a\.txt \| 2 \+-\n/,
  )
  expect(stdout).toMatch(
    /It merges cleanly: git merge hermes\/task-\w+\nChanges here that are not committed touch the same files: sub\/a\.txt\n/,
  )
  expect(stdout).toMatch(/Task 2 completed .*\nDone\.\nIt changed no files\.\n$/)
  expect([...modes]).toEqual([0o700])
  expect(await readFile(join(cwd, 'sub', 'a.txt'), 'utf8')).toBe('not committed\n')
  const branch = /hermes\/task-\w+/.exec(stdout)![0]
  expect(git('show', `${branch}:sub/a.txt`)).toBe('two\n')
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(git('branch', '--format=%(refname:short)').trim().split('\n').toSorted()).toEqual([branch, 'main'])
  isCommitted = true
  expect((await chat('-q', 'Go.')).stdout).toMatch(/It conflicts with HEAD in sub\/a\.txt: git merge hermes/)
})

it('makes a worktree, commits and compares without running what the repository names for that', async () => {
  const { server, cwd } = scene
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' }).stdout
  git('init', '-q', '-b', 'main')
  await writeFile(join(cwd, 'a.txt'), 'one\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  const canaries = await makeHostile(cwd, 'a.txt')
  server.setHandler((request) => {
    const last = request.body.messages.at(-1)!
    if (!isChild(request))
      return last.role === 'tool'
        ? { text: String(last.content) }
        : { toolCalls: [{ name: 'delegate_task', args: { goal: 'Change it.', worktree: true } }] }
    return last.role === 'tool'
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'two\n' } }] }
  })
  const { stdout } = await chat('-q', 'Go.', '--yolo')
  expect(stdout).toMatch(
    /Done\.\nIts changes are on branch (hermes\/task-\w+):\n a\.txt \| 2 \+-\n[\s\S]*It merges cleanly/,
  )
  expect(await canaries()).toBe('')
})

it('says so where there is no repository to make a worktree of', async () => {
  const { server } = scene
  server.setHandler((request) =>
    request.body.messages.at(-1)!.role === 'tool'
      ? { text: String(request.body.messages.at(-1)!.content) }
      : { toolCalls: [{ name: 'delegate_task', args: { goal: 'Change it.', worktree: true } }] },
  )
  const { stdout } = await chat('-q', 'Go.')
  expect(stdout).toMatch(/The task failed .* There is no worktree: .* is not in a git repository that has a commit\./)
  expect(server.requests.filter(isChild)).toEqual([])
})

it('ends a chain of orchestrators at the depth that is set', async () => {
  const { server, home } = scene
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'config.yaml'), 'delegation: {max_spawn_depth: 2, max_iterations: 4}\n')
  // Every agent delegates all it is asked to do, for ever.
  server.setHandler((request) =>
    request.body.messages.at(-1)!.role === 'tool'
      ? { text: String(request.body.messages.at(-1)!.content) }
      : { toolCalls: [{ name: 'delegate_task', args: { goal: 'Hand it on.', role: 'orchestrator' } }] },
  )
  const { stdout, stderr } = await chat('-q', 'Go.')
  const children = server.requests.filter(isChild).map(toolNames)
  expect(children.filter((names) => names.includes('delegate_task'))).toHaveLength(2)
  expect(children.filter((names) => !names.includes('delegate_task'))).toHaveLength(2)
  expect(stdout).toMatch(/The task completed[\s\S]*The task completed[\s\S]*There is no tool "delegate_task"/)
  expect(stderr).toContain('delegate: Hand it on.')
})
