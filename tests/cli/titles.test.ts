// A session names itself, beside its first turn, wherever it is; a single question leaves that to a process that stays.
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()

needs('tmux', hasTmux)('titles at the keyboard', () => {
  it('a conversation has a title after its first answer, and the next answer does not wait for it', async () => {
    const { server, home, cwd } = scene
    const named = Promise.withResolvers<void>()
    server.setHandler(async ({ body }) => {
      const isTitle = JSON.stringify(body.messages).includes('Name the conversation below')
      if (!isTitle) return { text: `Answer to ${body.messages.length} messages.` }
      await named.promise
      return { text: 'Adding two and two' }
    })
    const args = ['--base-url', server.baseUrl, '-m', 'm']
    await using terminal = await openTerminal(args, { home, cwd, columns: 80, titles: true })
    await terminal.shows(/>$/)
    for (const [line, answer] of [
      ['What is 2 + 2?', 'Answer to 2 messages.'],
      ['And 3 + 3?', 'Answer to 4 messages.'],
    ] as const) {
      await terminal.type(line)
      await terminal.press('Enter')
      await terminal.shows(answer)
    }
    named.resolve()
    await expect
      .poll(async () => (await runCli(['sessions', 'list', '--json'], { home, cwd })).stdout, { timeout: 15_000 })
      .toContain('"title":"Adding two and two"')
    expect(server.requests).toHaveLength(3)
  })
})

/** Names each session by what was asked in it first. */
function answerAndName(): void {
  scene.server.setHandler(({ body }) => {
    const request = JSON.stringify(body.messages)
    if (!request.includes('Name the conversation below')) return { text: 'Four.' }
    return { text: `About ${/tea|rain|snow/.exec(request)?.[0]}` }
  })
}

/** Titles as they come; the oldest session is the last. */
const titles = () =>
  expect.poll(
    async () => {
      const { stdout } = await runCli(['sessions', 'list', '--json'], scene)
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as { title: string }).title))
    },
    { timeout: 20_000 },
  )

it('a session of the gateway gets its title, and so does the question that was asked before', async () => {
  const { server } = scene
  answerAndName()
  const flags = ['--base-url', server.baseUrl, '-m', 'm']
  await runCli(['chat', '-q', 'How long does tea take?', ...flags], scene)
  expect(server.requests).toHaveLength(1)
  const gateway = await startGateway(flags, { ...scene, titles: true })
  const messages = [{ role: 'user' as const, content: 'Will there be rain?' }]
  const { choices } = await gateway.client().chat.completions.create({ model: 'hermes-agent', messages })
  expect(choices[0]!.message.content).toBe('Four.')
  await titles().toEqual(['About rain', 'About tea'])
  expect(await gateway.stop()).toBe(0)
  expect(server.requests).toHaveLength(4)
})

it('a session of an editor gets the title that a process killed before it could not give', async () => {
  const { server } = scene
  const requested = Promise.withResolvers<void>()
  server.setHandler(({ body }) => {
    if (!JSON.stringify(body.messages).includes('Name the conversation below')) return { text: 'Four.' }
    requested.resolve()
    return { text: 'About', fault: 'stall' }
  })
  const flags = ['--base-url', server.baseUrl, '-m', 'm']
  const killed = await startEditor(flags, { ...scene, titles: true })
  await killed.prompt(await killed.newSession(scene.cwd), 'Will there be snow?')
  await requested.promise
  killed.process.child.kill('SIGKILL')
  await killed.leave()
  answerAndName()
  const editor = await startEditor(flags, { ...scene, titles: true })
  await editor.prompt(await editor.newSession(scene.cwd), 'Will there be rain?')
  await titles().toEqual(['About rain', 'About snow'])
  expect(await editor.leave()).toBe(0)
})

it('a single question costs one call', async () => {
  const { server, home, cwd } = scene
  server.enqueue({ text: 'Four.' })
  const result = await runCli(['chat', '-q', 'What is 2 + 2?', '--base-url', server.baseUrl, '-m', 'm'], { home, cwd })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Four.\n' })
  expect(server.requests).toHaveLength(1)
})
