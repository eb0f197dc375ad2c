// A session that another process has open is said to be so, with who has it.
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { KEY, startGateway } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()

/** A gateway that has a session open, and the id of that. */
async function openInGateway() {
  scene.server.setHandler(() => ({ text: 'Hello.' }))
  const flags = ['--base-url', scene.server.baseUrl, '-m', 'm']
  const gateway = await startGateway(flags, scene)
  const response = await gateway.request('/chat/completions', {
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi.' }] }),
  })
  const id = response.headers.get('x-hermes-session-id')!
  await response.text()
  return { gateway, flags, id, line: `is also open in gateway (process ${gateway.child.pid}@` }
}

it('a single question says so', async () => {
  const { gateway, flags, id, line } = await openInGateway()
  const result = await runCli(['chat', '-r', id, '-q', 'And?', ...flags], scene)
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Hello.\n', stderr: expect.stringContaining(line) })
  expect(await gateway.stop()).toBe(0)
  const later = await runCli(['chat', '-r', id, '-q', 'And?', ...flags], scene)
  expect(later.stderr).not.toContain('is also open')
})

needs('tmux', hasTmux)('in the terminal', () => {
  it('says so before anything is typed', async () => {
    const { gateway, flags, id, line } = await openInGateway()
    await using terminal = await openTerminal(['-r', id, ...flags], { ...scene, columns: 160 })
    await terminal.shows(line)
    expect(await gateway.stop()).toBe(0)
  })
})

it('an editor is told when it loads the session', async () => {
  const { gateway, flags, id, line } = await openInGateway()
  const editor = await startEditor(flags, scene)
  await editor.agent.request('session/load', { sessionId: id, cwd: scene.cwd, mcpServers: [] })
  await editor.update((update) => JSON.stringify(update).includes(line))
  expect(await editor.leave()).toBe(0)
  expect(await gateway.stop()).toBe(0)
})

it('a client of the gateway is told with the answer', async () => {
  const { gateway, flags, id } = await openInGateway()
  const editor = await startEditor(flags, scene)
  await editor.agent.request('session/load', { sessionId: id, cwd: scene.cwd, mcpServers: [] })
  await editor.prompt(id, 'And?')
  const response = await gateway.request('/chat/completions', {
    body: JSON.stringify({ messages: [{ role: 'user', content: 'And here?' }] }),
    headers: { authorization: `Bearer ${KEY}`, 'x-hermes-session-id': id },
  })
  const text = expect.stringContaining('This session is also open in acp (process ')
  expect(await response.json()).toMatchObject({ hermes: { notices: [{ level: 'warning', text }] } })
  expect(await editor.leave()).toBe(0)
  expect(await gateway.stop()).toBe(0)
})
