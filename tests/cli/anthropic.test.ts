import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CapturedRequest, checkPrefix, type ModelStep } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const env = { ANTHROPIC_API_KEY: 'sk-ant-test-1234567890' }
const chat = (...args: readonly string[]) => runCli(['chat', ...args], { ...scene, env })
const anthropic = () => ['--provider', 'anthropic', '--base-url', scene.server.anthropicBaseUrl]
const completions = () => ['--base-url', scene.server.baseUrl, '-m', 'test']
const listing = (path: string): ModelStep => ({
  reasoning: `I look at ${path}.`,
  text: 'Looking.',
  toolCalls: [{ name: 'search_files', args: { pattern: 'x', path } }],
})

function keepsPrefix(requests: readonly CapturedRequest[]): void {
  for (let index = 1; index < requests.length; index++)
    expect(checkPrefix(requests[index - 1]!, requests[index]!), `request ${index + 1}`).toBeNull()
}

describe('hermes chat --provider anthropic', () => {
  it('edits a file with tools, then -c goes on in a new process with the same prefix and the same thoughts', async () => {
    await writeFile(join(scene.cwd, 'note.txt'), 'colour\n')
    scene.server.enqueue(
      { reasoning: 'Read it first.', toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] },
      { toolCalls: [{ name: 'patch', args: { path: 'note.txt', old_string: 'colour', new_string: 'color' } }] },
      { text: 'It says color now.' },
      listing('.'),
      { text: 'Still color.' },
    )
    const first = await chat('-q', 'Use American spelling.', ...anthropic())
    expect(first).toMatchObject({ exitCode: 0, stdout: 'It says color now.\n' })
    expect(await readFile(join(scene.cwd, 'note.txt'), 'utf8')).toBe('color\n')
    expect(await chat('-c', '-q', 'And now?', ...anthropic())).toMatchObject({ exitCode: 0, stdout: 'Still color.\n' })
    expect(scene.server.violations).toEqual([])
    expect(scene.server.requests.map(({ api }) => api)).toEqual(Array(5).fill('anthropic-messages'))
    keepsPrefix(scene.server.requests)
    expect(JSON.stringify(scene.server.requests[4]?.body.messages)).toContain('Read it first.')
    expect(scene.server.requests[0]?.headers['x-api-key']).toBe(env.ANTHROPIC_API_KEY)
  })

  it('takes a session from one wire to the other and back, valid on both', async () => {
    scene.server.enqueue(listing('.'), { text: 'One.' }, listing('src'), { text: 'Two.' }, listing('docs'), {
      text: 'Three.',
    })
    await chat('-q', 'First.', ...anthropic())
    await chat('-c', '-q', 'Second.', ...completions())
    expect((await chat('-c', '-q', 'Third.', ...anthropic())).stdout).toBe('Three.\n')
    expect(scene.server.violations).toEqual([])
    expect(scene.server.requests.map(({ api }) => api)).toEqual([
      'anthropic-messages',
      'anthropic-messages',
      'chat-completions',
      'chat-completions',
      'anthropic-messages',
      'anthropic-messages',
    ])
    keepsPrefix(scene.server.requests.filter(({ api }) => api === 'anthropic-messages'))
    const last = JSON.stringify(scene.server.requests[5]?.body.messages)
    for (const text of ['First.', 'One.', 'Second.', 'Two.', 'Third.', 'I look at ..']) expect(last).toContain(text)
    expect(last).not.toContain('I look at src.')
  })

  it('tries again when the server is overloaded in the middle of an answer', async () => {
    scene.server.enqueue(
      { fault: 'error-event', type: 'overloaded_error', message: 'Try again in 5 ms.', text: 'Half an ans' },
      { text: 'The whole answer.' },
    )
    const result = await chat('-q', 'Hi.', ...anthropic())
    expect(result).toMatchObject({ exitCode: 0, stdout: 'The whole answer.\n' })
  })

  it('records a run and replays it without a server, the key in neither', async () => {
    const recording = join(scene.cwd, '..', 'run.jsonl')
    scene.server.enqueue(listing('.'), { text: 'Recorded.' })
    await chat('-q', 'Look.', ...anthropic(), '--record', recording)
    expect(await readFile(recording, 'utf8')).not.toContain(env.ANTHROPIC_API_KEY)
    const replayed = await runCli(['chat', '-q', 'Look.', '--replay', recording], { ...scene })
    expect(replayed).toMatchObject({ exitCode: 0, stdout: 'Recorded.\n' })
    expect(scene.server.requests).toHaveLength(2)
  })

  it('names the variable when there is no key', async () => {
    const result = await runCli(['chat', '-q', 'Hi.', '--provider', 'anthropic'], { ...scene })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain('ANTHROPIC_API_KEY')
  })
})
