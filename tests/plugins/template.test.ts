// A plugin as `hermes plugins create` begins it, used from every entry point as it is built, or as HERMES_TEST_CLI has it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { agentText, startEditor } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const flags = () => ['--base-url', scene.server.baseUrl, '-m', 'm']

async function hermes(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(args, scene)
  expect(exitCode, stderr).toBe(0)
  return stdout
}

// Code of others is looked at behind walls alone.
needs(missingPrograms('bwrap'))('a plugin from the template', () => {
  it('adds a tool, a command and a hook to the terminal, the gateway and the editor', async () => {
    const { server, home, cwd } = scene
    const folder = join(cwd, 'my-words')
    await hermes('plugins', 'create', folder)
    await promisify(execFile)(process.execPath, ['--no-warnings', '--test'], { cwd: folder })
    expect(await hermes('plugins', 'validate', folder)).toMatch(/my_words[\s\S]*my-words/)
    await hermes('plugins', 'install', folder, '--enable')

    const uses = () =>
      server.enqueue(
        {
          toolCalls: [
            { name: 'my_words', args: { text: 'one two' } },
            // More than its hook lets through.
            { name: 'my_words', args: { text: 'x'.repeat(1_000_001) } },
          ],
        },
        { text: 'Counted.' },
      )
    const results = () => JSON.stringify(server.requests.at(-1)!.body.messages.slice(-2))
    const worked = () => {
      expect(results()).toContain('{\\"words\\":2}')
      expect(results()).toContain('Count at most 1000000 characters at once.')
    }
    uses()
    expect(await hermes('chat', '-q', 'Count.', ...flags())).toBe('Counted.\n')
    worked()

    const gateway = await startGateway(flags(), scene)
    const ask = (content: string) =>
      gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    uses()
    await ask('Count.')
    worked()
    // Commands are the owner's unless they say otherwise.
    expect((await ask('/my-words one two')).choices[0]!.message.content).toContain('is for the owner of this Hermes')
    expect(await gateway.stop()).toBe(0)

    const editor = await startEditor(flags(), { home, cwd })
    const session = await editor.newSession(cwd)
    uses()
    expect(await editor.prompt(session, 'Count.')).toBe('end_turn')
    worked()
    expect(await editor.prompt(session, '/my-words one two three four')).toBe('end_turn')
    await expect.poll(() => agentText(editor.updates)).toContain('4 words')
    expect(await editor.leave()).toBe(0)
  })
})
