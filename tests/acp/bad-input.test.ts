import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { commandLines } from '@hermes/testkit/daemons'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AcpProcess, startAcp } from '../support/acp.js'
import { wireViolations } from '../support/acp-wire.js'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
let acp: AcpProcess
let lastId: number

beforeEach(() => {
  acp = startAcp(['--base-url', scene.server.baseUrl, '-m', 'm'], scene)
  lastId = 0
})
afterEach(async () => {
  if (acp.child.exitCode === null) await acp.leave()
  expect(acp.stderr()).not.toMatch(/\n\s+at |[Uu]nhandled/)
})

const send = (message: Record<string, unknown>) => acp.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

/** Sends a request and gives its answer. */
async function ask(method: string, params: unknown): Promise<Record<string, unknown>> {
  const id = `ask-${++lastId}`
  send({ id, method, params })
  return acp.line((message) => message['id'] === id && !('method' in message))
}

const greet = () => ask('initialize', { protocolVersion: 1 })

async function session(): Promise<string> {
  const { result } = await ask('session/new', { cwd: scene.cwd, mcpServers: [] })
  return (result as { sessionId: string }).sessionId
}

async function newSession(): Promise<string> {
  await greet()
  return session()
}

const prompt = (sessionId: string, text: string) =>
  ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

/** The session works, and what it said is kept. */
async function worksAndKeeps(sessionId: string): Promise<void> {
  scene.server.enqueue({ text: 'Sound and safe.' })
  expect(await prompt(sessionId, 'Are you well?')).toMatchObject({ result: { stopReason: 'end_turn' } })
  expect(await acp.leave()).toBe(0)
  const shown = await runCli(['sessions', 'show', sessionId], scene)
  expect(shown.stdout).toContain('Sound and safe.')
}

describe('frames', () => {
  it('that are none get one error each, and the next one works', async () => {
    const frames: readonly (readonly [frame: string, code: number])[] = [
      ['{"jsonrpc": "2.0", nonsense', -32700],
      ['[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32600],
      ['42', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":5}', -32600],
    ]
    const sessionId = await newSession()
    const errors = () => acp.wire.filter(({ from, line }) => from === 'agent' && line.includes('"id":null'))
    for (const [at, [frame, code]] of frames.entries()) {
      acp.write(`${frame}\n`)
      await expect.poll(errors, { interval: 5 }).toHaveLength(at + 1)
      expect(JSON.parse(errors()[at]!.line), frame).toMatchObject({ error: { code } })
      scene.server.enqueue({ text: 'Fine.' })
      expect(await prompt(sessionId, 'Are you well?'), frame).toMatchObject({ result: { stopReason: 'end_turn' } })
    }
    await worksAndKeeps(sessionId)
    expect(errors()).toHaveLength(frames.length)
  })

  it('may come in pieces, with empty lines and Windows line ends between them', async () => {
    acp.write('\n\r\n{"jsonrpc":"2.0","id":1,"meth')
    acp.write('od":"initialize","params":{"protocolVersion":1}}\r\n')
    expect(await acp.line((message) => message['id'] === 1)).toMatchObject({ result: { protocolVersion: 1 } })
  })

  it('beyond all size end the server with one line', async () => {
    await greet()
    const piece = 'x'.repeat(1 << 20)
    for (let count = 0; count < 33; count++) acp.write(piece)
    expect(await acp.leave()).toBe(1)
    expect(acp.stderr()).toMatch(/^hermes acp: .*byte limit.* The sessions are kept\.\n$/)
  })
})

describe('requests', () => {
  it('before the greeting get one clear error', async () => {
    expect(await ask('session/new', { cwd: scene.cwd, mcpServers: [] })).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('must be initialized') },
    })
    await worksAndKeeps(await newSession())
    expect(wireViolations(acp.wire)).toEqual([])
  })

  it('that cannot be carried out get one clear error each, and the next one works', async () => {
    const sessionId = await newSession()
    const requests: readonly (readonly [code: number, words: string, request: () => Promise<unknown>])[] = [
      [-32002, 'No session "nope" is open', () => prompt('nope', 'x')],
      [-32601, 'Method not found', () => ask('session/dance', {})],
      [-32602, 'absolute path, got "here"', () => ask('session/new', { cwd: 'here', mcpServers: [] })],
      [-32602, 'folder that exists', () => ask('session/new', { cwd: '/no/such', mcpServers: [] })],
      [-32602, 'Invalid params', () => ask('session/new', {})],
      [-32602, 'prompt is empty', () => prompt(sessionId, '  ')],
    ]
    for (const [code, words, request] of requests) {
      expect(await request()).toMatchObject({ error: { code, message: expect.stringContaining(words) } })
      scene.server.enqueue({ text: 'Fine.' })
      expect(await prompt(sessionId, 'Are you well?'), words).toMatchObject({ result: { stopReason: 'end_turn' } })
    }
    expect(wireViolations(acp.wire)).toEqual([])
    await worksAndKeeps(await session())
  })

  it('for a session that works are refused without disturbing it', async () => {
    const sessionId = await newSession()
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'read -r line < gate; echo "$line"' } }] },
      { text: 'Through.' },
    )
    await runCommand(`mkfifo ${join(scene.cwd, 'gate')}`)
    const first = prompt(sessionId, 'Wait at the gate.')
    await acp.line((message) => JSON.stringify(message).includes('"tool_call"'))
    expect(await prompt(sessionId, 'And this?')).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('works on a prompt') },
    })
    expect(await ask('session/load', { sessionId, cwd: scene.cwd, mcpServers: [] })).toMatchObject({
      error: { code: -32600 },
    })
    await runCommand(`echo open > ${join(scene.cwd, 'gate')}`)
    expect(await first).toMatchObject({ result: { stopReason: 'end_turn' } })
    await worksAndKeeps(sessionId)
  })
})

describe('answers', () => {
  const dangerous = { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf old' } }] }

  it('that nobody asked for, and second ones, change nothing', async () => {
    const sessionId = await newSession()
    send({ id: 4711, result: { outcome: { outcome: 'selected', optionId: 'once' } } })
    scene.server.enqueue(dangerous, { text: 'Not done.' })
    const end = prompt(sessionId, 'Delete it.')
    const question = await acp.line((message) => message['method'] === 'session/request_permission')
    send({ id: question['id'], result: { outcome: { outcome: 'selected', optionId: 'deny' } } })
    send({ id: question['id'], result: { outcome: { outcome: 'selected', optionId: 'once' } } })
    expect(await end).toMatchObject({ result: { stopReason: 'end_turn' } })
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).toContain('said no')
    await worksAndKeeps(sessionId)
  })
})

describe('a client that leaves', () => {
  it('while a tool runs takes the tool with it and leaves the session sound', async () => {
    const sessionId = await newSession()
    // Numbers of processes that are isolated are their own.
    const [mark, running] = ['sleep 300.625', () => commandLines().filter((line) => line === mark).length]
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: `echo up; ${mark}; echo down` } }] })
    void prompt(sessionId, 'Wait.').catch(() => undefined)
    await acp.line((message) => /"text":"up/.test(JSON.stringify(message)))
    await expect.poll(running).toBe(1)
    expect(await acp.leave()).toBe(0)
    expect(running()).toBe(0)
    scene.server.enqueue({ text: 'Picked up.' })
    const more = await runCli(
      ['chat', '-r', sessionId, '-q', 'Go on.', '--base-url', scene.server.baseUrl, '-m', 'm'],
      scene,
    )
    expect(more).toMatchObject({ exitCode: 0, stdout: 'Picked up.\n' })
    expect(scene.server.violations).toEqual([])
  })

  it('while it is asked for permission counts as a no', async () => {
    await mkdir(join(scene.cwd, 'old'))
    const sessionId = await newSession()
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf old' } }] })
    void prompt(sessionId, 'Delete it.').catch(() => undefined)
    await acp.line((message) => message['method'] === 'session/request_permission')
    expect(await acp.leave()).toBe(0)
    expect(await runCommand(`ls ${scene.cwd}`)).toContain('old')
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('or a %s end the server with 0', async (signal) => {
    const sessionId = await newSession()
    scene.server.enqueue({ fault: 'stall', text: 'Hmm' })
    void prompt(sessionId, 'Think.').catch(() => undefined)
    await scene.server.waitForRequests(1)
    const closed = new Promise((resolve) => acp.child.once('close', resolve))
    acp.child.kill(signal)
    expect(await closed).toBe(0)
  })

  it('before it said anything ends the server with 0', async () => {
    expect(await acp.leave()).toBe(0)
    expect(acp.stderr()).toBe('')
  })
})

async function runCommand(command: string): Promise<string> {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  return (await promisify(execFile)('sh', ['-c', command])).stdout
}
