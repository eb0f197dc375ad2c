// Hooks of a project run wherever a person works with it, after that person trusts the project and agreed to them.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()
const flags = () => ['--base-url', scene.server.baseUrl, '-m', 'm']
const hermes = (...args: string[]) => runCli(args, { home: scene.home, cwd: scene.cwd })
const touching = () =>
  scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'true' } }] }, { text: 'Done.' })
const last = () => JSON.stringify(scene.server.requests.at(-1)!.body.messages.at(-1))

async function project(): Promise<void> {
  const folder = join(scene.cwd, '.claude')
  await mkdir(folder)
  await writeFile(join(folder, 'no.sh'), '#!/bin/sh\necho "not here" >&2\nexit 2\n')
  await chmod(join(folder, 'no.sh'), 0o755)
  const hook = { type: 'command', command: '"$CLAUDE_PROJECT_DIR"/.claude/no.sh' }
  const settings = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } }
  await writeFile(join(folder, 'settings.json'), JSON.stringify(settings))
}

it('run in the terminal, the gateway and the editor, once the person agreed to them', async () => {
  const { home, cwd } = scene
  await project()
  touching()
  expect((await hermes('chat', '-q', 'go', ...flags())).stderr).toContain('the project is not trusted')
  expect(last()).not.toContain('not here')
  expect((await hermes('hooks')).stdout).toContain('Not trusted, so left out: .claude/settings.json')
  await hermes('trust', 'add')
  touching()
  expect((await hermes('chat', '-q', 'go', ...flags())).stderr).toContain('waits for your consent')
  expect(last()).not.toContain('not here')
  expect((await hermes('hooks', 'test', '1')).stdout).toContain('block: not here')
  expect((await hermes('hooks', 'accept')).stdout).toContain('Agreed to, as they are now:\n  PreToolUse: ')
  expect((await hermes('hooks', 'list', '--json')).stdout).toContain('"consent":"agreed"')

  touching()
  await hermes('chat', '-q', 'go', ...flags())
  expect(last()).toContain('not here')
  const gateway = await startGateway(flags(), { home, cwd })
  touching()
  await gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'go' }] })
  expect(await gateway.stop()).toBe(0)
  expect(last()).toContain('not here')
  const editor = await startEditor(flags(), { home, cwd })
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [] })
  touching()
  await editor.prompt(sessionId, 'go')
  expect(await editor.leave()).toBe(0)
  expect(last()).toContain('not here')

  expect((await hermes('hooks', 'revoke')).stdout).toBe('1 taken back.\n')
  expect((await hermes('hooks', 'doctor')).stdout).toContain('waits for your consent. Run: hermes hooks accept 1')
})

needs('tmux', hasTmux)('in the terminal', () => {
  it('asks for trust and consent as a conversation begins, and runs hooks in it', async () => {
    await project()
    const more = Array.from({ length: 10 }, (_, at) => ({ hooks: [{ type: 'command', command: `true ${at}` }] }))
    const file = join(scene.cwd, '.claude/settings.json')
    const { hooks } = JSON.parse(await readFile(file, 'utf8')) as { readonly hooks: object }
    await writeFile(file, JSON.stringify({ hooks: { ...hooks, SessionEnd: more } }))
    await mkdir(join(scene.cwd, '.agents/skills/tide'), { recursive: true })
    const skill = '---\nname: tide\ndescription: Tells the tides\n---\nLook at the moon.\n'
    await writeFile(join(scene.cwd, '.agents/skills/tide/SKILL.md'), skill)
    await using terminal = await openTerminal(['chat', ...flags()], { home: scene.home, cwd: scene.cwd, columns: 100 })
    await terminal.shows('Trust it?')
    await terminal.type('y')
    // A letter alone may belong to words that somebody is typing already.
    await terminal.shows('❯ [y] yes')
    await terminal.press('Enter')
    // A yes is for what was shown.
    await terminal.shows('Let them run? (1 more after these)')
    await terminal.type('y')
    await terminal.shows('SessionEnd: true 9')
    await terminal.type('y')
    await terminal.shows('/help for help')
    touching()
    await terminal.type('go')
    await terminal.press('Enter')
    await terminal.shows('Done.')
    expect(last()).toContain('not here')
    // What the project brings besides is there at once too.
    await terminal.type('/tide')
    await terminal.press('Enter')
    await expect.poll(last).toContain('Look at the moon.')
    await terminal.press('C-d')
    expect(await terminal.exitCode()).toBe(0)
  })
})
