import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const env = { OPENAI_API_KEY: 'sk-test-1234567890', ANTHROPIC_API_KEY: 'sk-ant-test-1234567890' }
const chat = (...args: readonly string[]) => runCli(['chat', ...args], { ...scene, env })

beforeEach(async () => {
  await mkdir(scene.home, { recursive: true })
  const model = { provider: 'openai', default: 'gpt-5', base_url: scene.server.baseUrl, api_mode: 'codex_responses' }
  await writeFile(join(scene.home, 'config.yaml'), JSON.stringify({ model }))
})

describe('hermes chat with api_mode: codex_responses', () => {
  it('edits a file with tools, then -c goes on in a new process with the same prefix and the same thoughts', async () => {
    await writeFile(join(scene.cwd, 'note.txt'), 'colour\n')
    scene.server.enqueue(
      { reasoning: 'Read it first.', toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] },
      {
        text: 'Now I change it.',
        phase: 'commentary',
        toolCalls: [{ name: 'patch', args: { path: 'note.txt', old_string: 'colour', new_string: 'color' } }],
      },
      { reasoning: 'That is all.', text: 'It says color now.' },
      { text: 'Still color.' },
    )
    const first = await chat('-q', 'Use American spelling.')
    expect(first).toMatchObject({ exitCode: 0, stdout: 'It says color now.\n' })
    expect(await readFile(join(scene.cwd, 'note.txt'), 'utf8')).toBe('color\n')
    expect(await chat('-c', '-q', 'And now?')).toMatchObject({ exitCode: 0, stdout: 'Still color.\n' })
    const { requests, violations } = scene.server
    expect(violations).toEqual([])
    expect(requests.map(({ api }) => api)).toEqual(Array(4).fill('responses'))
    for (let index = 1; index < requests.length; index++)
      expect(checkPrefix(requests[index - 1]!, requests[index]!), `request ${index + 1}`).toBeNull()
    const items = requests[3]?.body['input'] as readonly { readonly phase?: string; readonly summary?: unknown }[]
    expect(items.flatMap(({ phase = [] }) => phase)).toEqual(['commentary'])
    expect(items.flatMap(({ summary }) => summary ?? [])).toMatchObject([
      { text: 'Read it first.' },
      { text: 'That is all.' },
    ])
    expect(requests[0]?.headers['authorization']).toBe(`Bearer ${env.OPENAI_API_KEY}`)
  })

  it('takes a session to another wire and back, valid on both', async () => {
    const { anthropicBaseUrl } = scene.server
    scene.server.enqueue({ reasoning: 'One?', text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
    await chat('-q', 'First.')
    await chat(
      '-c',
      '-q',
      'Second.',
      '--provider',
      'anthropic',
      '-m',
      'claude-opus-5-5',
      '--base-url',
      anthropicBaseUrl,
    )
    const back = await chat('-c', '-q', 'Third.', '--provider', 'openai', '-m', 'gpt-5')
    expect(back).toMatchObject({ exitCode: 0, stdout: 'Three.\n' })
    const { requests, violations } = scene.server
    expect(violations).toEqual([])
    expect(requests.map(({ api }) => api)).toEqual(['responses', 'anthropic-messages', 'responses'])
    const [, between, last] = requests.map(({ body }) => JSON.stringify(body['input'] ?? body.messages))
    for (const text of ['First.', 'One.', 'Second.', 'Two.', 'Third.']) expect(last).toContain(text)
    expect(last).toContain('One?')
    expect(between).not.toContain('One?')
  })

  it('tries again when the response fails in the middle', async () => {
    scene.server.enqueue(
      { fault: 'error-event', type: 'server_error', message: 'Try again in 5 ms.', text: 'Half an ans' },
      { text: 'The whole answer.' },
    )
    expect(await chat('-q', 'Hi.')).toMatchObject({ exitCode: 0, stdout: 'The whole answer.\n' })
  })
})
