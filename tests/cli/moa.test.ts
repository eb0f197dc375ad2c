// hermes moa: presets made, changed, looked at and tried.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'

let server: ModelServer
let temporary: TemporaryHome
let home: string
let cwd: string

beforeEach(async () => {
  server = await startModelServer()
  temporary = await temporaryHome()
  home = join(temporary.path, 'user', '.hermes')
  cwd = join(temporary.path, 'work')
  await mkdir(cwd)
  await mkdir(home, { recursive: true })
  await writeFile(
    join(home, 'config.yaml'),
    `# mine\nmodel: {provider: lab, default: m}\nproviders: {lab: {base_url: "${server.baseUrl}"}}\n`,
  )
})
afterEach(async () => {
  await server.close()
  await temporary.remove()
})

const moa = (...args: readonly string[]) => runCli(['moa', ...args], { home, cwd, env: { COLUMNS: '200' } })
const configText = () => readFile(join(home, 'config.yaml'), 'utf8')

describe('hermes moa', () => {
  it('says how to make the first preset', async () => {
    expect(await moa()).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('hermes moa add NAME -r'),
    })
  })

  it('adds a preset, which becomes the default, shows it, changes it and takes it out; comments stay', async () => {
    const added = await moa('add', 'pair', '-r', 'lab/a', '-r', 'lab/b/c', '-a', 'lab/d')
    expect(added).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('hermes moa try --preset pair') })
    expect(await configText()).toMatch(/^# mine\n/)
    expect((await moa('list')).stdout).toBe('pair (default): lab/a, lab/b/c → lab/d\n')
    const shown = JSON.parse((await moa('show', '--json')).stdout)
    expect(shown).toEqual({
      preset: 'pair',
      models: [
        { role: 'asked', provider: 'lab', model: 'a', baseUrl: server.baseUrl, problem: null },
        { role: 'asked', provider: 'lab', model: 'b/c', baseUrl: server.baseUrl, problem: null },
        { role: 'answers', provider: 'lab', model: 'd', baseUrl: server.baseUrl, problem: null },
      ],
    })
    expect((await moa('add', 'other', '-r', 'lab/x')).exitCode).toBe(0)
    expect((await moa('configure', 'other', '-a', 'lab/y', '--default')).exitCode).toBe(0)
    expect((await moa('list')).stdout).toBe('pair: lab/a, lab/b/c → lab/d\nother (default): lab/x → lab/y\n')
    expect((await moa('remove', 'other')).stderr).toContain('It was the default')
    expect(JSON.parse((await moa('list', '--json')).stdout)).toHaveLength(1)
  })

  it('tries a question: what each model said on one side, the answer on the other, its cost in the ledger', async () => {
    await moa('add', 'pair', '-r', 'lab/a', '-r', 'lab/b', '-a', 'lab/d')
    server.setHandler(({ body }) => {
      if (body.model === 'b') return { fault: 'status', status: 403 }
      return {
        text: body.model === 'a' ? 'I say six.' : 'It is six.',
        usage: { inputTokens: 9, outputTokens: 3, costUsd: 0.5 },
      }
    })
    const tried = await moa('try', 'two', 'times', 'three?')
    expect(tried).toMatchObject({ exitCode: 0, stdout: 'It is six.\n' })
    expect(tried.stderr).toContain('✓ lab/a: I say six.\n')
    expect(tried.stderr).toMatch(/✗ lab\/b: .*403/)
    const usage = await runCli(['usage', '--by', 'purpose', '--json'], { home, cwd })
    expect(JSON.parse(usage.stdout).rows).toMatchObject([
      { key: 'moa', knownCostUsd: 0.5 },
      { key: 'moa.reference', knownCostUsd: 0.5 },
    ])
    const json = JSON.parse((await moa('try', '--json', 'again?')).stdout)
    expect(json).toMatchObject({ preset: 'pair', answer: 'It is six.', usage: { costUsd: 0.5 } })
    expect(json.references).toHaveLength(2)
  })

  it.each([
    [['add', 'pair'], /somebody to ask/],
    [['add', 'a pair', '-r', 'lab/a'], /letters, digits/],
    [['add', 'pair', '-r', 'gpt-5'], /not PROVIDER\/MODEL/],
    [['add', 'pair', '-r', 'opnai/gpt-5'], /openai/],
    [['add', 'pair', '-r', 'moa/pair'], /cannot be a part/],
    [['configure', 'pair', '--default'], /no mixture of models "pair"/],
    [['remove', 'pair'], /no mixture of models "pair"/],
    [['show', 'pair'], /no mixture of models "pair"/],
    [['try', '--preset', 'pair', 'hm?'], /no mixture of models "pair"/],
  ])('%j is answered by one line', async (args, line) => {
    const before = await configText()
    const { exitCode, stdout, stderr } = await moa(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^hermes: [^\n]+\n$/)
    expect(stderr).toMatch(line)
    expect(await configText()).toBe(before)
  })

  it('says of a preset that cannot be used what is missing', async () => {
    const added = await moa('add', 'pair', '-r', 'openai/gpt-5', '-a', 'lab/d')
    expect(added).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('OPENAI_API_KEY') })
    const listed = await moa('list')
    expect(listed).toMatchObject({ exitCode: 1, stdout: 'pair (default): openai/gpt-5 → lab/d\n' })
    expect(listed.stderr).toMatch(/^hermes: pair: OpenAI needs a key/)
  })
})
