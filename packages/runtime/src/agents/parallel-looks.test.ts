// Commands of one reply that only look run together; what else a reply holds waits, and the shell is as it was.
import { execFileSync } from 'node:child_process'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const terminal = (command: string) => ({ name: 'terminal', args: { command } })

async function withAgent(work: (at: Awaited<ReturnType<typeof setUp>>) => Promise<void>): Promise<void> {
  const at = await setUp()
  try {
    await work(at)
  } finally {
    await at.runtime.close()
    await at.server.close()
    await at.home.remove()
  }
}

async function setUp() {
  const home = await temporaryHome()
  const server = await startModelServer()
  const auxiliary = { session_summary: { enabled: false }, title_generation: { enabled: false } }
  const config = { model: { default: 'm', base_url: server.baseUrl }, auxiliary, terminal: { isolation: 'off' } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env: { PATH: process.env['PATH'] ?? '' }, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world, yolo: true })
  const { agent } = await runtime.createAgent({})
  const results = () =>
    server.requests
      .at(-1)!
      .body.messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => String(content))
  return { home, server, runtime, agent, results }
}

/** Opens only once somebody reads the other end. */
async function say(path: string, text: string): Promise<void> {
  const pipe = await open(path, 'w')
  await pipe.writeFile(text)
  await pipe.close()
}

it('runs them at the same time, and keeps what a command changes about its shell', () =>
  withAgent(async ({ home, server, agent, results }) => {
    const pipes = ['one', 'two'].map((name) => join(home.path, name))
    execFileSync('mkfifo', pipes)
    server.enqueue(
      { toolCalls: [terminal('cat one'), terminal('cat two')] },
      { toolCalls: [terminal('export COLOUR=blue; mkdir sub; cd sub'), terminal('echo $COLOUR'), terminal('pwd')] },
      { text: 'Done.' },
    )
    const run = agent.run('Look.')
    // The second first: one after the other they would wait for each other for good.
    await say(pipes[1]!, 'second')
    await say(pipes[0]!, 'first')
    expect(await run.result).toMatchObject({ status: 'completed' })
    expect(results().slice(0, 2)).toEqual([expect.stringContaining('first'), expect.stringContaining('second')])
    expect(results().slice(3)).toEqual([expect.stringContaining('blue'), expect.stringContaining('/sub')])
    const started = agent.entries().filter((entry) => entry.type === 'call-start')
    expect(started).toHaveLength(1)
  }))

it('lets commands that only look run while a plan is made, and no others', () =>
  withAgent(async ({ home, server, agent, results }) => {
    await writeFile(join(home.path, 'note.txt'), 'colour')
    await agent.plan()
    server.enqueue(
      { toolCalls: [terminal('cat note.txt | head'), terminal('rm note.txt'), terminal('bash x.sh')] },
      { text: '1. Nothing.' },
    )
    await agent.run('Plan.').result
    expect(results()).toEqual([
      expect.stringContaining('colour'),
      ...[0, 1].map(() => expect.stringContaining('terminal was not run: plan mode is on')),
    ])
  }))
