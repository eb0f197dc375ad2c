// One session through every door: begun in the terminal, continued by a program, then in the editor, and in the terminal again.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { agentText, startEditor } from '../support/acp.js'
import { parseEvents, runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('goes from terminal to gateway to editor and back with the same prefix', async () => {
  const { server, home, cwd } = scene
  await writeFile(join(cwd, 'notes.txt'), 'blue\n')
  const flags = ['--base-url', server.baseUrl, '-m', 'm']
  const read = { toolCalls: [{ name: 'read_file', args: { path: 'notes.txt' } }] }
  server.enqueue(read, { text: 'Blue, says the terminal.' })
  const begun = await runCli(['chat', '-q', 'Which colour?', '--json', ...flags], { home, cwd })
  const id = parseEvents(begun.stdout)[0]!.sessionId

  const gateway = await startGateway(flags, { home, cwd })
  server.enqueue(read, { text: 'Blue, says the gateway.' })
  const answer = await gateway
    .client({ headers: { 'X-Hermes-Session-Id': id } })
    .chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Still?' }] })
  expect(answer.choices[0]!.message.content).toBe('Blue, says the gateway.')
  expect(await gateway.stop()).toBe(0)

  const editor = await startEditor(flags, { home, cwd })
  await editor.agent.request('session/load', { sessionId: id, cwd, mcpServers: [] })
  await editor.update((update) => JSON.stringify(update).includes('says the gateway'))
  expect(agentText(editor.updates, 'user_message_chunk')).toBe('Which colour?Still?')
  expect(agentText(editor.updates)).toBe('Blue, says the terminal.Blue, says the gateway.')
  server.enqueue(read, { text: 'Blue, says the editor.' })
  expect(await editor.prompt(id, 'And here?')).toBe('end_turn')
  expect(await editor.leave()).toBe(0)

  server.enqueue({ text: 'Blue it was.' })
  const back = await runCli(['chat', '-c', '-q', 'Sum up.', ...flags], { home, cwd })
  expect(back).toMatchObject({ exitCode: 0, stdout: 'Blue it was.\n' })

  expect(server.requests).toHaveLength(7)
  for (const [index, request] of server.requests.entries())
    if (index > 0) expect(checkPrefix(server.requests[index - 1]!, request), `request ${index + 1}`).toBeNull()
  const requested = server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'user')
  // What is said of an entry point rides on the first message from there.
  const from = (platform: string, words: string) =>
    expect.stringMatching(
      new RegExp(`^\\[The conversation goes on over ${platform} from here on[^\\]]*\\]\n\n${words}$`),
    )
  expect(requested.map(({ content }) => content)).toEqual([
    'Which colour?',
    from('gateway', 'Still\\?'),
    from('acp', 'And here\\?'),
    from('oneshot', 'Sum up\\.'),
  ])
  expect(server.violations).toEqual([])
})
