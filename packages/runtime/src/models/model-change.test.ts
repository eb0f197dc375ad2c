// Another model goes on with a session: its shell, what runs in it and its tasks stay.
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ChildTree } from '@hermes/agent-core'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, vi } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const terminal = (command: string, more: object = {}) => ({
  toolCalls: [{ name: 'terminal', args: { command, ...more } }],
})

async function setUp() {
  const home = await temporaryHome()
  await mkdir(join(home.path, 'sub'))
  const server = await startModelServer()
  const auxiliary = { session_summary: { enabled: false }, title_generation: { enabled: false } }
  const model = { default: 'first', base_url: server.baseUrl, context_length: 100_000 }
  const config = { model, auxiliary, terminal: { isolation: 'off' } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env: { PATH: process.env['PATH'] ?? '' }, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world, yolo: true })
  const close = async () => {
    await runtime.close()
    await server.close()
    await home.remove()
  }
  return { home, server, runtime, close }
}

it('lets a run that is under way end before its shell is closed with the home', async () => {
  const { server, runtime, close } = await setUp()
  server.enqueue(terminal('echo begun; sleep 600'))
  const { agent } = await runtime.createAgent({})
  const run = agent.run('Wait.')
  for await (const event of run) if (event.type === 'tool-start') setTimeout(() => void close(), 300)
  expect((await run.result).status).toBe('interrupted')
  // Its call has a result that says what is known.
  expect(agent.entries().at(-1)).toMatchObject({ type: 'message', message: { role: 'tool' } })
})

it('keeps folder, variables and background processes', async () => {
  const { server, runtime, close } = await setUp()
  try {
    const first = await runtime.createAgent({})
    server.enqueue(terminal('cd sub; export COLOUR=blue'), terminal('sleep 600', { background: true }), {
      text: 'Set.',
    })
    await first.agent.run('Prepare.').result
    const second = await first.changeModel({ model: 'second', force: true })
    expect(second.agent.sessionId).toBe(first.agent.sessionId)
    expect(second.hasProcesses()).toBe(true)
    // What the first agent is asked afterwards changes nothing.
    await first.close()
    server.enqueue(terminal('pwd; echo painted $COLOUR'), { text: 'Seen.' })
    expect(await second.agent.run('Look.').result).toMatchObject({ status: 'completed', text: 'Seen.' })
    const { model, messages } = server.requests.at(-1)!.body
    expect(model).toBe('second')
    expect(String(messages.at(-1)!.content)).toMatch(/\/sub\b[\s\S]*painted blue/)
    const storage = await runtime.storage()
    expect(await storage.sessions.get(second.agent.sessionId)).toMatchObject({ model: 'second', endedAtMs: null })
    await second.close('user_exit')
    expect(await storage.sessions.get(second.agent.sessionId)).toMatchObject({ endReason: 'user_exit' })
  } finally {
    await close()
  }
})

it('runs delegated tasks once a plan is accepted that was begun before', async () => {
  const { server, runtime, close } = await setUp()
  try {
    const first = await runtime.createAgent({})
    server.enqueue({ text: 'Hello.' })
    await first.agent.run('Hello.').result
    await first.agent.plan()
    const second = await first.changeModel({ model: 'second', force: true })
    await second.agent.endPlan('accept')
    server.enqueue(
      { toolCalls: [{ name: 'delegate_task', args: { goal: 'Look.' } }] },
      { text: 'Looked.' },
      { text: 'Done.' },
    )
    const states: string[] = []
    second.children.watch(({ state }) => {
      states.push(state)
      if (state === 'paused') second.agent.interrupt('a paused task never ends')
    })
    expect(await second.agent.run({ resume: true }).result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(states).not.toContain('paused')
  } finally {
    await close()
  }
})

it('holds delegated tasks of a session that plans', async () => {
  const { server, runtime, close } = await setUp()
  try {
    const first = await runtime.createAgent({})
    server.enqueue({ text: 'Hello.' }, { text: 'A plan.' })
    await first.agent.run('Hello.').result
    await first.agent.plan()
    await first.close()
    const session = (await (await runtime.storage()).sessions.get(first.agent.sessionId))!
    const again = await runtime.createAgent({ session })
    const paused: boolean[] = []
    ;(again.children as ChildTree).setPause = (_reason, isPaused) => void paused.push(isPaused)
    await again.agent.run('Plan.').result
    await again.agent.endPlan('leave')
    expect(paused).toEqual([true, true, false])
  } finally {
    await close()
  }
})

it('hears of the end of a process that was started before', async () => {
  const { server, runtime, close } = await setUp()
  try {
    const first = await runtime.createAgent({})
    const wait = 'until [ -e go ]; do sleep 0.05; done'
    server.enqueue(terminal(wait, { background: true, notify_on_complete: true }), { text: 'Begun.' })
    await first.agent.run('Begin.').result
    const second = await first.changeModel({ model: 'second', force: true })
    server.enqueue(terminal('touch go'), { text: 'Let go.' }, { text: 'Heard.' })
    await second.agent.run('Let it go.').result
    const storage = await runtime.storage()
    const log = async () => JSON.stringify(await storage.log.entries(second.agent.sessionId))
    await vi.waitFor(async () => expect(await log()).toContain('[Background process'), 10_000)
    await second.agent.run('What else?').result
    expect(JSON.stringify(server.requests.at(-1)!.body).split('[Background process')).toHaveLength(2)
  } finally {
    await close()
  }
})

it('leaves the session with its model when another cannot be taken', async () => {
  const { server, runtime, close } = await setUp()
  try {
    const first = await runtime.createAgent({})
    server.enqueue({ text: 'Hello.' })
    await first.agent.run('Hello.').result
    await expect(first.changeModel({ model: 'second', force: true, maxSteps: 0 } as object)).rejects.toMatchObject({
      code: 'agent.bad_options',
    })
    const storage = await runtime.storage()
    expect(await storage.sessions.get(first.agent.sessionId)).toMatchObject({ model: 'first' })
  } finally {
    await close()
  }
})

/** A server that lists these models, or has no list. */
async function listing(names: readonly string[] | null) {
  const server = createServer((_request, response) =>
    names === null
      ? response.writeHead(404).end()
      : response.end(JSON.stringify({ data: names.map((id) => ({ id })) })),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

const LISTED = ['qwen3:latest', 'llama3.3:70b', 'claude-sonnet-4-5-20250929', 'models/gemini-3-pro', 'openai/gpt-5']

it.each([
  ['llama3.3:70b', LISTED, null],
  ['qwen3', LISTED, null],
  ['claude-sonnet-4-5', LISTED, null],
  ['gemini-3-pro', LISTED, null],
  ['openai/gpt-5:nitro', LISTED, null],
  ['anything', null, null],
  ['llama3.3:7b', LISTED, /^\S+ does not list "llama3\.3:7b"\. Nearest: llama3\.3:70b\.$/],
  ['claude-sonnet-4', LISTED, /Nearest: claude-sonnet-4-5-20250929/],
  ['zzz', LISTED, /does not list "zzz"\. Nearest: \S+, \S+, /],
] as const)('takes %s of what a server lists, %j, or refuses: %s', async (name, names, refusal) => {
  const { runtime, close } = await setUp()
  const { server, baseUrl } = await listing(names)
  try {
    const first = await runtime.createAgent({ baseUrl })
    const changed = first.changeModel({ model: name })
    if (refusal === null) expect((await changed).model).toBe(name)
    else {
      await expect(changed).rejects.toMatchObject({
        code: 'runtime.model_not_listed',
        message: expect.stringMatching(refusal),
      })
      expect((await first.changeModel({ model: name, force: true })).model).toBe(name)
    }
  } finally {
    server.closeAllConnections()
    server.close()
    await close()
  }
})
