// hermes moa: presets made, changed, looked at and tried.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
beforeEach(async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(
    join(scene.home, 'config.yaml'),
    `# mine\nmodel: {provider: lab, default: m}\nproviders: {lab: {base_url: "${scene.server.baseUrl}"}}\n`,
  )
})

const moa = (...args: readonly string[]) => runCli(['moa', ...args], { ...scene, env: { COLUMNS: '200' } })
const configText = () => readFile(join(scene.home, 'config.yaml'), 'utf8')

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
        { role: 'asked', provider: 'lab', model: 'a', baseUrl: scene.server.baseUrl, problem: null },
        { role: 'asked', provider: 'lab', model: 'b/c', baseUrl: scene.server.baseUrl, problem: null },
        { role: 'answers', provider: 'lab', model: 'd', baseUrl: scene.server.baseUrl, problem: null },
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
    scene.server.setHandler(({ body }) => {
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
    const usage = await runCli(['usage', '--by', 'purpose', '--json'], scene)
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
