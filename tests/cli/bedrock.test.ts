import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const keys = { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY' }
const chat = (env: Record<string, string>, ...args: readonly string[]) => runCli(['chat', ...args], { ...scene, env })

beforeEach(async () => {
  await mkdir(scene.home, { recursive: true })
  const model = {
    provider: 'bedrock',
    default: 'us.anthropic.claude-opus-5-5-v1:0',
    base_url: scene.server.anthropicBaseUrl,
  }
  const bedrock = { guardrail: { identifier: 'gr-1', version: '2', trace: 'enabled' } }
  await writeFile(join(scene.home, 'config.yaml'), JSON.stringify({ model, bedrock }))
})

describe('hermes chat with Bedrock', () => {
  it('edits a file with tools, then -c goes on in a new process with the same prefix and the same thoughts', async () => {
    await writeFile(join(scene.cwd, 'note.txt'), 'colour\n')
    scene.server.enqueue(
      { reasoning: 'Read it first.', toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] },
      { toolCalls: [{ name: 'patch', args: { path: 'note.txt', old_string: 'colour', new_string: 'color' } }] },
      { reasoning: 'That is all.', redacted: 'c2VjcmV0', text: 'It says color now.' },
      { text: 'Still color.' },
    )
    const first = await chat(keys, '-q', 'Use American spelling.')
    expect(first).toMatchObject({ exitCode: 0, stdout: 'It says color now.\n' })
    expect(await readFile(join(scene.cwd, 'note.txt'), 'utf8')).toBe('color\n')
    expect(await chat(keys, '-c', '-q', 'And now?')).toMatchObject({ exitCode: 0, stdout: 'Still color.\n' })
    const { requests, violations } = scene.server
    expect(violations).toEqual([])
    expect(requests.map(({ api }) => api)).toEqual(Array(4).fill('bedrock-converse'))
    for (let index = 1; index < requests.length; index++)
      expect(checkPrefix(requests[index - 1]!, requests[index]!), `request ${index + 1}`).toBeNull()
    const last = JSON.stringify(requests[3]?.body.messages)
    for (const thought of ['Read it first.', 'That is all.', 'c2VjcmV0']) expect(last).toContain(thought)
    expect(requests[0]?.body['guardrailConfig']).toEqual({
      guardrailIdentifier: 'gr-1',
      guardrailVersion: '2',
      trace: 'enabled',
      streamProcessingMode: 'async',
    })
    expect(requests[0]?.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\//)
  })

  it('is set up with the variables of AWS', async () => {
    scene.server.setHandler(() => ({ text: 'ok' }))
    const env = { ...keys, BEDROCK_BASE_URL: scene.server.anthropicBaseUrl }
    const home = join(scene.home, 'new')
    const run = (...args: readonly string[]) => runCli(args, { ...scene, home, env })
    const done = await run('setup', '--provider', 'aws', '--model', 'us.anthropic.claude-opus-5-5-v1:0')
    expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Amazon Bedrock answered') })
    expect(await run('chat', '-q', 'Hi.')).toMatchObject({ exitCode: 0, stdout: 'ok\n' })
    const signed = scene.server.requests.map(({ headers }) => String(headers['authorization']).slice(0, 16))
    expect(signed).toEqual(['AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA256'])
  })

  it('sends a Bedrock API key as bearer token and never shows it', async () => {
    const env = { ...keys, AWS_BEARER_TOKEN_BEDROCK: 'ABSK-secret-of-bedrock' }
    const body = { message: 'Authentication failed for ABSK-secret-of-bedrock.' }
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'echo token: $AWS_BEARER_TOKEN_BEDROCK' } }] },
      { fault: 'status', status: 403, body },
    )
    const { exitCode, stdout, stderr } = await chat(env, '-q', 'Hi.')
    expect(exitCode).not.toBe(0)
    expect(stdout + stderr).not.toContain('ABSK-secret-of-bedrock')
    expect(scene.server.requests[0]?.headers['authorization']).toBe('Bearer ABSK-secret-of-bedrock')
    expect(JSON.stringify(scene.server.requests[1]?.body)).not.toContain('ABSK-secret-of-bedrock')
  })
})
