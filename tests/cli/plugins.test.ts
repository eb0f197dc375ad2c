// The plugins of examples/plugins and those that `hermes plugins create` begins, installed into the CLI as it is built, or as HERMES_TEST_CLI has it.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startModelServer } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const EXAMPLES = fileURLToPath(new URL('../../examples/plugins', import.meta.url))
const QUIET = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'

const scene = useScene()
const sent = (request: number) => JSON.stringify(scene.server.requests.at(request)!.body.messages)

/** Runs the CLI, which has to end well. */
async function hermes(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(args, scene)
  expect(exitCode, stderr).toBe(0)
  return stdout
}

const ask = (message: string) => hermes('chat', '-q', message, '--base-url', scene.server.baseUrl, '-m', 'm')

it('a tool, a memory and a guard are installed and used', async () => {
  for (const name of ['word-count', 'shelf', 'push-guard'])
    expect(await hermes('plugins', 'install', join(EXAMPLES, name), '--enable')).toContain(`Enabled ${name}`)
  // Where nothing isolates, a line of warning follows each.
  const looked = await hermes('plugins', 'doctor')
  expect(looked.match(/^ok +\S+/gm)).toEqual(['word-count', 'shelf', 'push-guard'].map((name) => `ok    ${name}`))
  await writeFile(join(scene.home, 'config.yaml'), `${QUIET}memory: {provider: shelf}\n`)
  scene.server.enqueue({ text: 'Noted.' })
  await ask('My kettle whistles in green.')
  scene.server.enqueue(
    {
      toolCalls: [
        { name: 'word_count', args: { text: 'one two' } },
        { name: 'terminal', args: { command: 'git push --force' } },
      ],
    },
    { text: 'Done.' },
  )
  expect(await ask('How does the kettle whistle?')).toContain('Done.')
  expect(sent(1)).toContain('My kettle whistles in green.')
  expect(sent(2)).toContain('{\\"words\\":2}')
  expect(sent(2)).toContain('Force pushes are not made here')
})

needs('tmux', hasTmux)('in a terminal', () => {
  it('the command of a plugin is typed', async () => {
    await hermes('plugins', 'install', join(EXAMPLES, 'word-count'), '--enable')
    await using terminal = await openTerminal(['--base-url', scene.server.baseUrl, '-m', 'm'], {
      ...scene,
      columns: 80,
    })
    await terminal.shows(/\n>$/)
    await terminal.type('/word-count one two three')
    await terminal.press('Enter')
    await terminal.shows('3 words')
  })
})

it('a plugin that was begun as a provider passes its test, and its model answers', async () => {
  const folder = join(scene.cwd, 'my-models')
  await hermes('plugins', 'create', folder, '--provider')
  await promisify(execFile)(process.execPath, ['--no-warnings', '--test'], { cwd: folder })
  await using models = Object.assign(await startModelServer([{ text: 'From the plugin.' }]), {
    [Symbol.asyncDispose]: () => models.close(),
  })
  const code = `export const provider = { baseUrl: '${models.baseUrl}', defaultModel: 'x' }
export default { name: 'my-models', setup: (api) => api.factories.add('model-provider', 'my-models', () => provider) }\n`
  await writeFile(join(folder, 'index.ts'), code)
  await hermes('plugins', 'install', folder, '--enable')
  expect(await hermes('chat', '-q', 'Hi', '--provider', 'my-models')).toContain('From the plugin.')
})
