// Every way in which a session ends is noted in the store, by the process itself or by the next one that opens the home.
import { join } from 'node:path'
import type { SessionInfo } from '@hermes/contracts/store'
import { openStorage } from '@hermes/storage'
import { describe, expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { parseEvents, runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
const flags = () => ['--base-url', scene.server.baseUrl, '-m', 'm']

/** The only session there is, as it stands in the store; opened without looking for what was left. */
async function session(): Promise<Pick<SessionInfo, 'endReason'> & { readonly hasEnd: boolean }> {
  const store = await openStorage({ path: join(scene.home, 'state.db') })
  try {
    const [{ endedAtMs, endReason } = { endedAtMs: null, endReason: null }] = await store.sessions.list()
    return { endReason, hasEnd: endedAtMs !== null }
  } finally {
    await store.close()
  }
}
const ended = (endReason: string) => ({ endReason, hasEnd: true })
const open = { endReason: null, hasEnd: false }

describe('a question asked once', () => {
  it('ends its session with how it went', async () => {
    scene.server.enqueue({ text: 'Four.' })
    expect(await runCli(['chat', '-q', '2+2?', ...flags()], scene)).toMatchObject({ exitCode: 0 })
    expect(await session()).toEqual(ended('completed'))
  })

  it('ends a session that is gone on with anew, and reading it changes nothing', async () => {
    scene.server.enqueue({ text: 'Four.' }, { fault: 'status', status: 400 })
    const first = await runCli(['chat', '-q', '2+2?', '--json', ...flags()], scene)
    const id = parseEvents(first.stdout)[0]!.sessionId
    await runCli(['sessions', 'show', id], scene)
    expect(await session()).toEqual(ended('completed'))
    await runCli(['chat', '-r', id, '-q', 'And 3+3?', ...flags()], scene)
    expect(await session()).toEqual(ended('failed'))
  })
})

needs('tmux', hasTmux)('a conversation in the terminal', () => {
  async function answered(): Promise<Terminal> {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    const terminal = await openTerminal(flags(), { ...scene, columns: 80 })
    await terminal.shows(/\n>$/)
    await terminal.type('Hello.')
    await terminal.press('Enter')
    await terminal.shows(/Noted\.\n>$/)
    expect(await session()).toEqual(open)
    return terminal
  }

  it.each([
    { way: 'Ctrl-D', end: (terminal: Terminal) => terminal.press('C-d'), reason: 'user_exit' },
    { way: 'Ctrl-C twice', end: (terminal: Terminal) => terminal.press('C-c', 'C-c'), reason: 'user_exit' },
    { way: 'SIGTERM', end: (terminal: Terminal) => terminal.signal('TERM'), reason: 'sigterm' },
  ])('ends with $way', async ({ end, reason }) => {
    await using terminal = await answered()
    await end(terminal)
    await terminal.exitCode()
    expect(await session()).toEqual(ended(reason))
  })

  it('ends when its terminal is closed', async () => {
    await (await answered())[Symbol.asyncDispose]()
    await expect.poll(async () => (await session()).endReason, { timeout: 10_000 }).toMatch(/^(sighup|user_exit)$/)
  })

  it('is ended by the next process when it was killed while nothing ran', async () => {
    await using terminal = await answered()
    await terminal.signal('KILL')
    await terminal.exitCode()
    expect(await session()).toEqual(open)
    await runCli(['sessions', 'list'], scene)
    expect(await session()).toEqual(ended('process_gone'))
  })

  it('is ended by the next process when it was killed in the middle of an answer', async () => {
    await using terminal = await answered()
    let requested = () => {}
    const isRequested = new Promise<void>((resolve) => (requested = resolve))
    scene.server.setHandler(async () => {
      requested()
      await new Promise(() => undefined)
      return { text: 'Never.' }
    })
    await terminal.type('And now?')
    await terminal.press('Enter')
    await isRequested
    await terminal.signal('KILL')
    await terminal.exitCode()
    await runCli(['sessions', 'list'], scene)
    expect(await session()).toEqual(ended('process_gone'))
  })
})

describe('an editor', () => {
  it.each(['closes the session', 'leaves'])('ends its session when it %s', async (way) => {
    scene.server.enqueue({ text: 'Noted.' })
    const editor = await startEditor(flags(), scene)
    const id = await editor.newSession(scene.cwd)
    await editor.prompt(id, 'Hello.')
    expect(await session()).toEqual(open)
    if (way === 'leaves') await editor.leave()
    else await editor.agent.request('session/close', { sessionId: id })
    expect(await session()).toEqual(ended('editor_close'))
    if (way !== 'leaves') await editor.leave()
  })
})

describe('the gateway', () => {
  it('ends its sessions when it is stopped', async () => {
    scene.server.enqueue({ text: 'Noted.' })
    const gateway = await startGateway(flags(), scene)
    await gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hello.' }] })
    expect(await session()).toEqual(open)
    expect(await gateway.stop()).toBe(0)
    expect(await session()).toEqual(ended('server_stop'))
  })
})
