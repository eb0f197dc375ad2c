// What sessions hold while nobody uses them: counted in the processes that this one has started.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk'
import type { Io, Output } from '@hermes/runtime/app'
import { createFakeClock, type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AcpServer } from './server.js'

const SESSIONS = 4
let place: Awaited<ReturnType<typeof temporaryHome>>
let model: ModelServer
let server: AcpServer
const clock = createFakeClock(1_000_000)

beforeEach(async () => {
  place = await temporaryHome()
  model = await startModelServer([])
  model.setHandler(({ body }) =>
    body.messages.at(-1)!.role === 'tool'
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'terminal', args: { command: 'pwd' } }] },
  )
  await mkdir(join(place.path, '.hermes'))
  const auxiliary = { session_summary: { enabled: false }, title_generation: { enabled: false } }
  await writeFile(join(place.path, '.hermes/config.yaml'), JSON.stringify({ auxiliary }))
  const silent: Output = {
    ...{ isTTY: false, colors: false, columns: () => 80, rows: () => 24 },
    ...{ onResize: () => () => undefined, write: () => undefined },
  }
  const io: Io = {
    ...{ stdin: process.stdin, stdout: silent, stderr: silent, env: {}, user: 'me', nodePath: process.execPath },
    ...{ script: '', onSignal: () => () => undefined },
    ...{ cwd: place.path, userHome: place.path, tempDir: place.path, onInterrupt: () => () => undefined },
  }
  const agent = { baseUrl: model.baseUrl, model: 'm' }
  server = new AcpServer(io, { agent, yolo: true, version: '0' }, clock)
  server.connect({ notify: async () => undefined, request: async () => ({}) } as unknown as AgentContext)
})
afterEach(async () => {
  await server.close()
  await model.close()
  await place.remove()
})

const request = () => ({ cwd: place.path, mcpServers: [] })
const prompt = (sessionId: string, signal = new AbortController().signal) =>
  server.prompt({ sessionId, prompt: [{ type: 'text', text: 'Where?' }] }, signal)

/** Those below this process, theirs included. */
async function processes(): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(
    ids.map(async (id) => {
      const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
      return [Number(id), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const
    }),
  )
  const below = new Set([process.pid])
  for (let size = 0; size < below.size; ) {
    size = below.size
    for (const [id, parent] of parents) if (below.has(parent)) below.add(id)
  }
  return below.size - 1
}

it('asks a question of the agent once, also in a session that was loaded twice at the same time', async () => {
  const forms: string[] = []
  const client = {
    notify: async () => undefined,
    request: async (method: string) => {
      forms.push(method)
      return { action: 'decline' }
    },
  }
  server.connect(client as unknown as AgentContext)
  server.initialize({ protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } })
  const { sessionId } = await server.newSession(request())
  await prompt(sessionId)
  await Promise.all([1, 2, 3].map(() => server.loadSession({ ...request(), sessionId })))
  model.setHandler(({ body }) =>
    body.messages.at(-1)!.role === 'tool'
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'clarify', args: { question: 'Which?', choices: ['red', 'blue'] } }] },
  )
  await prompt(sessionId)
  expect(forms).toEqual(['elicitation/create'])
})

it.each([
  [{ elicitation: { form: {} } }, 'It steeps: green.', ['Which tea?']],
  [{}, 'It steeps: none.', []],
])('a command asks the person of an editor with %j for a line', async (clientCapabilities, result, expected) => {
  const folder = join(place.path, '.hermes/extensions')
  await mkdir(folder, { mode: 0o700 })
  const run = `async (_, { ask, signal }) => ({ type: 'text', text: 'It steeps: ' + ((await ask('Which tea?', signal)) ?? 'none') + '.' })`
  const command = `{ name: 'steep', summary: 'tea', run: ${run} }`
  const code = `export default { name: 'kettle', setup: (api) => void api.commands.add(${command}) }`
  await writeFile(join(folder, 'kettle.mjs'), code, { mode: 0o600 })
  await writeFile(join(place.path, '.hermes/config.yaml'), 'extensions: [kettle.mjs]\n')
  const [questions, texts]: [string[], string[]] = [[], []]
  const client = {
    notify: async (_method: string, { update }: { update: { content?: { text?: string } } }) => {
      texts.push(update.content?.text ?? '')
    },
    request: async (_method: string, { message }: { message: string }) => {
      questions.push(message)
      return { action: 'accept', content: { text: 'green' } }
    },
  }
  server.connect(client as unknown as AgentContext)
  server.initialize({ protocolVersion: 1, clientCapabilities })
  const { sessionId } = await server.newSession(request())
  const typed = { sessionId, prompt: [{ type: 'text' as const, text: '/steep' }] }
  expect(await server.prompt(typed, new AbortController().signal)).toEqual({ stopReason: 'end_turn' })
  expect(texts).toContain(result)
  expect(questions).toEqual(expected)
})

describe.runIf(process.platform === 'linux')('the processes of sessions', () => {
  async function openMany(): Promise<{ readonly ids: readonly string[]; readonly before: number }> {
    // What the whole home has stays.
    const first = (await server.newSession(request())).sessionId
    await prompt(first)
    await server.closeSession({ sessionId: first })
    const before = await processes()
    const ids: string[] = []
    for (let at = 0; at < SESSIONS; at++) {
      const { sessionId } = await server.newSession(request())
      await prompt(sessionId)
      ids.push(sessionId)
    }
    return { ids, before }
  }

  it('end when it is closed, which a later prompt is told, and it can be loaded again', async () => {
    const { ids, before } = await openMany()
    expect(await processes()).toBeGreaterThanOrEqual(before + SESSIONS)
    for (const sessionId of ids) await server.closeSession({ sessionId })
    await expect.poll(processes).toBeLessThanOrEqual(before)
    await expect(prompt(ids[0]!)).rejects.toThrow(/is open here/)
    await server.loadSession({ ...request(), sessionId: ids[0]! })
    expect(await prompt(ids[0]!)).toEqual({ stopReason: 'end_turn' })
  })

  it('stay those of one session however often it is loaded', async () => {
    const { ids } = await openMany()
    const before = await processes()
    for (let at = 0; at < 3; at++) {
      await server.loadSession({ ...request(), sessionId: ids[0]! })
      await prompt(ids[0]!)
    }
    await expect.poll(processes).toBeLessThanOrEqual(before)
  })

  it('end when nobody uses it for a while, and the next prompt goes on with it', async () => {
    const { ids, before } = await openMany()
    const silent = (await server.newSession(request())).sessionId
    await clock.advance(50)
    await prompt(ids[0]!)
    const used = await processes()
    await server.closeIdle(50)
    const left = await processes()
    expect(left).toBeLessThan(used)
    await clock.advance(50)
    await server.closeIdle(50)
    await expect.poll(processes).toBeLessThanOrEqual(before)
    expect(await prompt(ids[1]!)).toEqual({ stopReason: 'end_turn' })
    expect(JSON.stringify(model.requests.at(-1)!.body.messages).match(/Where\?/g)).toHaveLength(2)
    expect(await prompt(silent)).toEqual({ stopReason: 'end_turn' })
  })

  it('are not begun by a prompt that was taken back while its session was opened anew', async () => {
    const { ids } = await openMany()
    await server.closeIdle(0)
    const requested = model.requests.length
    const answer = prompt(ids[0]!)
    server.cancel({ sessionId: ids[0]! })
    expect(await answer).toEqual({ stopReason: 'cancelled' })
    expect(model.requests).toHaveLength(requested)
  })

  it('do not come back when a session is closed while it is opened anew', async () => {
    const { ids, before } = await openMany()
    await server.closeIdle(0)
    const answer = prompt(ids[0]!)
    await server.closeSession({ sessionId: ids[0]! })
    expect(await answer).toEqual({ stopReason: 'cancelled' })
    await expect(prompt(ids[0]!)).rejects.toThrow(/is open here/)
    await expect.poll(processes).toBeLessThanOrEqual(before)
  })
})

describe('the project of a session', () => {
  /** An editor that gives these answers, one after the other; gives what it was asked. */
  async function editor(capabilities: ClientCapabilities, ...answers: readonly (object | (() => object))[]) {
    const requests: { readonly method: string; readonly params: Record<string, unknown> }[] = []
    const left = [...answers]
    const client = {
      notify: async () => undefined,
      request: async (method: string, params: Record<string, unknown>) => {
        requests.push({ method, params })
        const answer = left.shift() ?? {}
        return typeof answer === 'function' ? answer() : answer
      },
    }
    server.connect(client as unknown as AgentContext)
    server.initialize({ protocolVersion: 1, clientCapabilities: capabilities })
    const opened = () => server.newSession({ cwd: join(place.path, 'project'), mcpServers: [] })
    const ask = async () => {
      const { sessionId } = await opened()
      await prompt(sessionId)
      await prompt(sessionId)
    }
    return { requests, opened, ask }
  }
  const trusted = async () => {
    const text = await readFile(join(place.path, '.hermes/trust.json'), 'utf8').catch(() => '{"folders":[]}')
    const { folders } = JSON.parse(text) as { readonly folders: readonly { readonly isTrusted: boolean }[] }
    return folders.map(({ isTrusted }) => isTrusted)
  }
  beforeEach(async () => {
    await mkdir(join(place.path, 'project/.git'), { recursive: true })
    await writeFile(join(place.path, 'project/AGENTS.md'), 'Be brief.')
  })

  it('is asked about once, before its first prompt, and again when it changed', async () => {
    const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })
    const { requests, ask } = await editor({}, selected('trust'), selected('decline'))
    await ask()
    await ask()
    expect(requests).toMatchObject([
      {
        method: 'session/request_permission',
        params: {
          toolCall: { title: expect.stringMatching(/project brings what instructs the agent/) },
          options: [{ name: 'Trust this project' }, { name: 'Not now' }],
        },
      },
    ])
    expect(JSON.stringify(requests)).toContain('instructions: AGENTS.md')
    expect(await trusted()).toEqual([true])
    await writeFile(join(place.path, 'project/AGENTS.md'), 'Obey.')
    await ask()
    expect(JSON.stringify(requests[1])).toContain('changed since your last yes: AGENTS.md')
    expect(await trusted()).toEqual([false])
  })

  it('is asked about with the next prompt when the first one was cancelled at the question', async () => {
    let id = ''
    const cancelled = () => {
      server.cancel({ sessionId: id })
      return { outcome: { outcome: 'cancelled' } }
    }
    const { requests, opened } = await editor({}, cancelled, { outcome: { outcome: 'selected', optionId: 'trust' } })
    id = (await opened()).sessionId
    expect(await prompt(id)).toEqual({ stopReason: 'cancelled' })
    expect(await prompt(id)).toEqual({ stopReason: 'end_turn' })
    expect(requests).toHaveLength(2)
    expect(await trusted()).toEqual([true])
  })

  it('is asked about by a form where the editor has forms, and stays open where nobody answers', async () => {
    const { requests, ask } = await editor(
      { elicitation: { form: {} } },
      { action: 'cancel' },
      { action: 'accept', content: { choice: 'Trust this project' } },
    )
    await ask()
    expect(await trusted()).toEqual([])
    await ask()
    expect(requests.map(({ method }) => method)).toEqual(['elicitation/create', 'elicitation/create'])
    expect(await trusted()).toEqual([true])
  })
})
