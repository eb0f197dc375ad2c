// How much the model thinks is configured, or chosen for a session wherever a person is, and stays with the session.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { agentText, startEditor } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { KEY, startGateway } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()
const flags = () => ['--base-url', scene.server.baseUrl, '-m', 'm']
const QUIET = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'
const efforts = () => scene.server.requests.map(({ body }) => (body as { reasoning_effort?: string }).reasoning_effort)

async function configure(text: string): Promise<void> {
  await mkdir(scene.home, { recursive: true, mode: 0o700 })
  await writeFile(join(scene.home, 'config.yaml'), QUIET + text, { mode: 0o600 })
}

it('is configured, by model too, for delegated tasks apart, and with a limit for answers', async () => {
  await configure(
    [
      'agent: {reasoning_effort: low, reasoning_overrides: {m: high}, temperature_overrides: {m: 0.25}}',
      'model: {max_tokens: 4096, temperature: 1}',
      'delegation: {reasoning_effort: minimal, temperature: 0, max_tokens: 99}\n',
    ].join('\n'),
  )
  const task = { name: 'delegate_task', args: { goal: 'look', context: 'here' } }
  scene.server.enqueue({ toolCalls: [task] }, { text: 'Seen.' }, { text: 'Done.' })
  expect((await runCli(['chat', '-q', 'go', ...flags()], scene)).stdout).toContain('Done.')
  expect(efforts()).toEqual(['high', 'minimal', 'high'])
  expect(scene.server.requests[0]!.body).toMatchObject({ max_tokens: 4096, temperature: 0.25 })
  expect(scene.server.requests[1]!.body).toMatchObject({ max_tokens: 99, temperature: 0 })
  await configure(
    `agent: {service_tier: fast}\nproviders: {tiers: {base_url: '${scene.server.baseUrl}', quirks: {service_tiers: true}}}\n`,
  )
  scene.server.enqueue({ text: 'Soon.' })
  expect((await runCli(['chat', '-q', 'go', '--provider', 'tiers', '-m', 'm'], scene)).stdout).toContain('Soon.')
  expect(scene.server.requests.at(-1)!.body).toMatchObject({ service_tier: 'priority' })
  await configure('agent: {reasoning_effort: a-lot}\nmodel: {temperature: 2.5}\n')
  const { stdout } = await runCli(['config', 'check'], scene)
  expect(stdout).toContain('agent.reasoning_effort')
  expect(stdout).toContain('model.temperature must be a number from 0 to 2, found 2.5.')
})

it('is chosen by a flag, kept with the session, and given back', async () => {
  await configure('agent: {reasoning_effort: high}\ndisplay: {show_reasoning: true}\n')
  for (const more of [[], ['--reasoning', 'low'], [], ['--reasoning', 'default']]) {
    const isFirst = scene.server.requests.length === 0
    scene.server.enqueue({ reasoning: 'It looks like it.', text: 'Yes.' })
    const { exitCode, stdout, stderr } = await runCli(
      ['chat', ...(isFirst ? [] : ['-c']), '-q', 'Well?', ...more, ...flags()],
      scene,
    )
    expect([exitCode, stdout.trim()]).toEqual([0, 'Yes.'])
    expect(stderr).toContain('It looks like it.')
  }
  expect(efforts()).toEqual(['high', 'low', 'low', 'high'])
  expect((await runCli(['chat', '-q', 'x', '--reasoning', 'a-lot', ...flags()], scene)).exitCode).not.toBe(0)
})

it('is a field of a request over HTTP, and a command', async () => {
  await configure('')
  const gateway = await startGateway(flags(), scene)
  let headers: Record<string, string> = { authorization: `Bearer ${KEY}` }
  const ask = async (content: string, more: object) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })
    const response = await gateway.request('/chat/completions', { body, headers })
    headers = { ...headers, 'x-hermes-session-id': response.headers.get('x-hermes-session-id') ?? '' }
    return response.text()
  }
  scene.server.enqueue({ reasoning: 'Which?', text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
  const chosen = { temperature: 0.5, max_tokens: 7, max_completion_tokens: 77 }
  expect(await ask('first', { reasoning_effort: 'minimal', ...chosen })).toContain(
    '"content":"One.","reasoning_content":"Which?"',
  )
  expect(await ask('second', { temperature: 0 })).toContain('Two.')
  expect(await ask('/reasoning high', {})).toContain('high effort')
  expect(await ask('/reasoning show', {})).toContain('always goes out here')
  expect(await ask('third', {})).toContain('Three.')
  expect(efforts()).toEqual(['minimal', 'minimal', 'high'])
  expect(scene.server.requests.map(({ body }) => [body['temperature'], body['max_tokens']])).toEqual([
    [0.5, 77],
    [0, 77],
    [0, 77],
  ])
  for (const wrong of [{ reasoning_effort: 'a-lot' }, { temperature: 2.1 }, { max_tokens: 0 }])
    expect(await ask('fourth', wrong)).toContain(`'${Object.keys(wrong)[0]}'`)
  expect(await gateway.stop()).toBe(0)
})

it('is chosen by a command in editors', async () => {
  await configure('')
  const editor = await startEditor(flags(), scene)
  const id = await editor.newSession(scene.cwd)
  scene.server.enqueue({ text: 'One.' }, { text: 'Two.' })
  await editor.prompt(id, 'first')
  await editor.prompt(id, '/reasoning medium')
  await editor.prompt(id, 'second')
  expect(agentText(editor.updates)).toContain('m thinks with medium effort from the next request on.')
  expect(efforts()).toEqual([undefined, 'medium'])
  expect(await editor.leave()).toBe(0)
})

needs('tmux', hasTmux)('in a terminal', () => {
  it('is chosen by a command of the terminal', async () => {
    await configure('')
    scene.server.enqueue({ reasoning: 'How many?', text: 'One.' }, { reasoning: 'More?', text: 'Two.' })
    await using terminal = await openTerminal(flags(), { ...scene, columns: 100 })
    await terminal.shows(/\n>$/)
    await terminal.type('/reasoning high')
    await terminal.press('Enter')
    await terminal.shows('m thinks with high effort from the next request on.')
    for (const line of ['/reasoning show', 'first', '/reasoning hide', 'second']) {
      await terminal.type(line)
      await terminal.press('Enter')
      await terminal.shows({ first: 'One.', second: 'Two.' }[line] ?? 'from here on')
      if (line === 'first') await terminal.shows('How many?')
    }
    expect(await terminal.screen()).not.toContain('More?')
    expect(efforts()).toEqual(['high', 'high'])
    await terminal.press('C-d')
    await terminal.exitCode()
  })
})
