// What the person does in place of the agent: commands of their own, and another way than the one it asks about.
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()

async function open(): Promise<Terminal> {
  const args = ['--base-url', scene.server.baseUrl, '-m', 'test']
  const terminal = await openTerminal(args, { ...scene, columns: 80 })
  await terminal.shows('/help for help')
  return terminal
}
async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}
const sent = (request: number) => JSON.stringify(scene.server.requests[request]?.body.messages.slice(-2))

needs('tmux', hasTmux)('a person at the keyboard', () => {
  it('runs a command at once, which the model sees with the next message, stops one with Escape, and runs none that the policy denies', async () => {
    scene.server.setHandler(() => ({ text: 'I see.' }))
    await using terminal = await open()
    await say(terminal, '!echo "six times seven: $((6*7))"; exit 3')
    await terminal.shows(/six times seven: 42\n\[exit 3\]/)
    expect(scene.server.requests).toHaveLength(0)
    await say(terminal, 'What went wrong?')
    await terminal.shows('I see.')
    expect(sent(0)).toMatch(/The user ran this command.*six times seven: 42.*exit 3.*What went wrong\?/)
    await say(terminal, 'And now?')
    await expect.poll(() => scene.server.requests.length).toBe(2)
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).not.toContain('six times')
    await say(terminal, '! echo begun; sleep 600')
    await terminal.shows(/\nbegun/)
    await terminal.press('Escape')
    await terminal.shows('[stopped]')
    await say(terminal, '!rm -rf /')
    await terminal.shows('Not run: ')
  })

  it('says no to what the agent wants and what to do instead, which the model reads', async () => {
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] },
      { text: 'Moved it.' },
    )
    await using terminal = await open()
    await say(terminal, 'Clean up.')
    await terminal.shows('[i] no, and say what to do instead')
    await terminal.type('i')
    await terminal.shows('What should it do instead?')
    await say(terminal, 'Move it to /tmp.')
    await terminal.shows('Moved it.')
    expect(await terminal.screen()).toContain('→ no; Move it to /tmp.')
    expect(sent(1)).toContain('Move it to /tmp.')
  })
})
