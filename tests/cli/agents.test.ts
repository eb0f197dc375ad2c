// Delegated tasks and plans, at the keyboard: listed, held, told something, ended; results that come by themselves.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
const isChild = ({ body }: Pick<CapturedRequest, 'body'>) =>
  String(body.messages[0]?.content).startsWith('You were started by another agent')
const lastOf = ({ body }: CapturedRequest) => body.messages.at(-1)!
const lastText = (request: CapturedRequest) => JSON.stringify(lastOf(request))

async function open(args: readonly string[] = []): Promise<Terminal> {
  const { server, home, cwd } = scene
  const terminal = await openTerminal([...args, '--base-url', server.baseUrl, '-m', 'test'], {
    home,
    cwd,
    columns: 100,
  })
  await terminal.shows(/\n>$/)
  return terminal
}
async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, release: resolve }
}

needs('tmux', hasTmux)('delegated tasks', () => {
  it('are shown while they run, and can be held, told something and ended', async () => {
    const [first, second] = [gate(), gate()]
    scene.server.setHandler(async (request) => {
      if (!isChild(request)) {
        const tasks = [{ goal: 'Count apples.' }, { goal: 'Count pears.' }]
        if (lastOf(request).role === 'tool') return { text: 'Both are over.' }
        return { toolCalls: [{ name: 'delegate_task', args: { tasks } }] }
      }
      if (lastOf(request).role === 'tool') return { text: 'Counted.' }
      await (lastText(request).includes('apples') ? first : second).opened
      return {
        toolCalls: [
          { name: 'todo_read', args: {} },
          { name: 'read_file', args: { path: 'x' } },
        ],
      }
    })
    await using terminal = await open()
    await say(terminal, 'Go.')
    await terminal.shows(/1\. running .* Count apples\.\n.*2\. running .* Count pears\./)
    await say(terminal, '/agents pause 1')
    await terminal.shows('Task 1 is held before the next step.')
    await terminal.shows(/1\. paused/)
    await say(terminal, '/agents steer 1 Only red ones.')
    await say(terminal, '/agents kill 2')
    await terminal.shows('Task 2 ends now.')
    await say(terminal, '/agents kill 7')
    await terminal.shows('There is no task "7". There are: 1, 2.')
    first.release()
    await say(terminal, '/agents resume 1')
    await terminal.shows('Task 1 was told.')
    await terminal.shows(/Both are over\.\n>$/)
    await say(terminal, '/agents')
    await terminal.shows(/1\. completed .* 2 calls · Count apples\.\n2\. interrupted .* Count pears\.\n>$/)
    second.release()
    const requests = scene.server.requests
    const last = requests.filter(isChild).at(-1)!
    expect(JSON.stringify(last.body.messages)).toContain('Only red ones.')
    expect(lastText(requests.at(-1)!)).toMatch(/Task 1 completed.*Counted\..*Task 2 interrupted .*The user ended it\./)
  })
})

it('makes a plan with --plan, keeps planning, and carries it out with --accept', async () => {
  const { server, home, cwd } = scene
  await writeFile(join(cwd, 'a.txt'), 'x\n')
  const chat = (...args: string[]) =>
    runCli(['chat', '--base-url', server.baseUrl, '-m', 'test', ...args], { home, cwd })
  server.setHandler((request) =>
    lastOf(request).role === 'tool'
      ? { text: `1. Overwrite a.txt. (${String(lastOf(request).content).slice(0, 24)})` }
      : { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'new\n' } }] },
  )
  const planned = await chat('--plan', '-q', 'Overwrite it.')
  expect(planned).toMatchObject({ exitCode: 0, stdout: '1. Overwrite a.txt. (write_file was not run: )\n' })
  expect(planned.stderr).toMatch(/A plan; nothing was changed\. Carry it out: hermes chat -r \S+ --accept\n$/)
  expect((await chat('-c', '-q', 'Shorter.')).stdout).toContain('was not run')
  const done = await chat('-c', '--accept', '--yolo')
  expect(done.stdout).not.toContain('was not run')
  expect(done.stderr).not.toContain('A plan')
  expect(await chat('--accept')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('-c or -r SESSION') })
})

it('refuses /plan where there is no conversation, on the command line and piped in', async () => {
  const { server, home, cwd } = scene
  const refused = { exitCode: 2, stdout: '', stderr: expect.stringMatching(/^hermes: \/plan .*--plan.*\n$/) }
  const chat = ['chat', '--base-url', server.baseUrl, '-m', 'test']
  expect(await runCli([...chat, '-q', '/plan Overwrite it.'], { home, cwd })).toMatchObject(refused)
  expect(await runCli(chat, { home, cwd, input: '/plan\n' })).toMatchObject(refused)
  expect(server.requests).toEqual([])
})
