// A run under way is told something, and ended, by clients that have no keyboard.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const NOTE = 'Look at the second folder too.'

/** A model that runs a command until it is let go, and says then what it was told. */
function work(): { readonly flags: readonly string[]; begun(): Promise<void>; letGo(): Promise<void> } {
  const { server, cwd } = scene
  server.setHandler(({ body }) => {
    const newest = body.messages.at(-1)!
    if (newest.role === 'tool') return { text: JSON.stringify(newest.content).includes(NOTE) ? 'Both.' : 'One.' }
    if (JSON.stringify(newest.content).includes('Hello')) return { text: 'Hello.' }
    const command = 'touch begun; while [ ! -e go ]; do sleep 0.05; done'
    return { toolCalls: [{ name: 'terminal', args: { command } }] }
  })
  return {
    flags: ['--base-url', server.baseUrl, '-m', 'm'],
    begun: () => expect.poll(() => existsSync(join(cwd, 'begun')), { timeout: 15_000 }).toBe(true),
    letGo: () => writeFile(join(cwd, 'go'), ''),
  }
}

it('a client of the gateway steers the run of a session and ends it', async () => {
  const { flags, begun, letGo } = work()
  const gateway = await startGateway(flags, scene)
  const ask = (content: string, id?: string) =>
    gateway.request('/chat/completions', {
      body: JSON.stringify({ messages: [{ role: 'user', content }] }),
      headers: { authorization: 'Bearer the-key-of-a-test-0123456789', ...(id ? { 'x-hermes-session-id': id } : {}) },
    })
  const act = async (id: string, action: string, body: object = {}) => {
    const response = await gateway.request(`/sessions/${id}/${action}`, { body: JSON.stringify(body) })
    return [response.status, await response.json()]
  }
  const id = (await ask('Hello.')).headers.get('x-hermes-session-id')!
  expect(await act(id, 'steer', { text: NOTE })).toMatchObject([409, { error: { code: 'no_run' } }])
  expect(await act(id, 'stear', { text: NOTE })).toMatchObject([400, { error: { code: 'unknown_action' } }])
  const answer = ask('Work.', id)
  await begun()
  expect(await act(id, 'steer', { text: ' ' })).toMatchObject([400, { error: { code: 'invalid_text' } }])
  expect(await act(id, 'steer', { text: NOTE })).toEqual([200, { object: 'session.action', id, action: 'steer' }])
  await letGo()
  expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: 'Both.' } }] })
  scene.server.enqueue({ text: 'never', fault: 'stall' })
  const stalled = ask('Once more.', id)
  const before = scene.server.requests.length
  await scene.server.waitForRequests(before + 1)
  expect(await act(id, 'interrupt')).toMatchObject([200, { action: 'interrupt' }])
  expect((await stalled).status).toBe(503)
  expect(await act(id, 'interrupt')).toMatchObject([409, { error: { code: 'no_run' } }])
  expect(await gateway.stop()).toBe(0)
})

it('an editor steers a prompt under way, and is told to prompt where none is', async () => {
  const { flags, begun, letGo } = work()
  const editor = await startEditor(flags, scene)
  const sessionId = await editor.newSession(scene.cwd)
  const steer = (prompt: unknown) => editor.agent.request('_session/steering', { sessionId, prompt })
  const note = [{ type: 'text', text: NOTE }]
  expect(await steer(note)).toEqual({ outcome: 'promptRequired', reason: 'noRunningTurn' })
  const prompt = editor.prompt(sessionId, 'Work.')
  await begun()
  await expect(steer('words')).rejects.toThrow('_session/steering takes')
  await expect(steer([{ type: 'image', mimeType: 'image/png', data: 'AAAA' }])).rejects.toThrow('text only')
  expect(await steer(note)).toEqual({ outcome: 'injected' })
  await letGo()
  await prompt
  expect(JSON.stringify(editor.updates)).toContain('Both.')
  expect(await editor.leave()).toBe(0)
})
