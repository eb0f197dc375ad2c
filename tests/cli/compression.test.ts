// A session longer than the window of its model: it is compacted on the way, keeps its task, and goes on in a new process.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CapturedRequest, checkPrefix } from '@hermes/testkit'
import { beforeEach, expect, it } from 'vitest'
import { parseEvents, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const WINDOW = 24_000
const RECORD = '## Active Task\nnone\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'
const TASK = 'Read big.txt five times. Never touch secret.txt.'

beforeEach(async () => {
  const { cwd, server } = scene
  await configure(WINDOW)
  await writeFile(join(cwd, 'big.txt'), 'some words in a line\n'.repeat(400))
  expect(server.requests).toEqual([])
})

/** A model of its own with a window of so many tokens. */
async function configure(contextLength: number): Promise<void> {
  const { home, server } = scene
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl, context_length: contextLength }
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model }))
}

const isSummary = ({ body }: Pick<CapturedRequest, 'body'>) =>
  String(body.messages[0]?.content).startsWith('You write the record')
const chars = ({ body }: Pick<CapturedRequest, 'body'>) => JSON.stringify(body).length

const compactions = (stdout: string) => parseEvents(stdout).filter(({ type }) => type === 'compaction-end').length

/** Counts as providers do. */
const usage = (request: CapturedRequest) => ({ inputTokens: Math.ceil(chars(request) / 4), outputTokens: 20 })

/** Answers like a model that reads `times` pages and then says it is done. */
function read(times: number, summary: string): void {
  let calls = 0
  scene.server.setHandler((request) => {
    if (isSummary(request)) return { text: summary }
    if (calls++ % (times + 1) === times) return { text: 'All read.', usage: usage(request) }
    return {
      usage: usage(request),
      toolCalls: [{ name: 'terminal', args: { command: `head -c 7000 big.txt; echo ${calls}` } }],
    }
  })
}

it.each([
  ['a summary', RECORD],
  ['no usable summary', 'I would rather not.'],
])('compacts a run of tool calls with %s, keeps the task, and goes on in a new process', async (_, summary) => {
  const { server, home, cwd } = scene
  read(12, summary)
  const run = await runCli(['chat', '-q', TASK, '--json', '--yolo'], { home, cwd })
  expect(run.exitCode).toBe(0)
  const first = compactions(run.stdout)
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(3)

  const { id } = JSON.parse((await runCli(['sessions', 'list', '--json'], { home, cwd })).stdout) as { id: string }
  const more = await runCli(['chat', '-r', id, '-q', 'Once more.', '--json', '--yolo'], { home, cwd })
  const turns = server.requests.filter((request) => !isSummary(request))
  for (const request of turns) {
    expect(chars(request)).toBeLessThan(WINDOW * 4)
    expect(JSON.stringify(request.body.messages)).toContain('Never touch secret.txt.')
  }
  const broken = turns.filter((request, index) => index > 0 && checkPrefix(turns[index - 1]!, request) !== null)
  expect(broken.length).toBe(first + compactions(more.stdout))
  expect(server.violations).toEqual([])
  const found = await runCli(['sessions', 'show', id], { home, cwd })
  expect(found.stdout).toContain('echo 1')
})

it('compacts and goes on when the provider finds the conversation too long', async () => {
  const { server, home, cwd } = scene
  await configure(1_000_000)
  let refused = false
  let calls = 0
  server.setHandler((request) => {
    if (isSummary(request)) return { text: RECORD }
    if (!refused && chars(request) > 60_000) {
      refused = true
      return {
        fault: 'status',
        status: 400,
        body: { error: { message: 'maximum context length is 9000 tokens', code: 'context_length_exceeded' } },
      }
    }
    return refused
      ? { text: 'Done after all.' }
      : { toolCalls: [{ name: 'terminal', args: { command: `head -c 7000 big.txt; echo ${++calls}` } }] }
  })
  const run = await runCli(['chat', '-q', TASK, '--yolo'], { home, cwd })
  expect(run).toMatchObject({ exitCode: 0, stdout: 'Done after all.\n' })
  expect(run.stderr).toContain('Compacting the conversation')
  expect(server.requests.filter(isSummary)).toHaveLength(1)
})

it('is compacted at once for a model with a smaller window', async () => {
  const { server, home, cwd } = scene
  const model = { provider: 'custom', default: 'large', base_url: server.baseUrl }
  const model_overrides = { large: { context_window: 200_000 }, small: { context_window: 12_000 } }
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model, model_overrides }))
  read(6, RECORD)
  const before = await runCli(['chat', '-q', TASK, '--json', '--yolo'], { home, cwd })
  expect(compactions(before.stdout)).toBe(0)
  const after = await runCli(['chat', '-c', '-m', 'small', '-q', 'And?', '--json', '--yolo'], { home, cwd })
  expect(compactions(after.stdout)).toBeGreaterThan(0)
  const first = server.requests.find(({ body }) => body.model === 'small' && !isSummary({ body }))!
  expect(chars(first)).toBeLessThan(12_000 * 4)
})

it("is compacted by an engine of one's own, and in the usual way where there is none", async () => {
  const { server, home, cwd } = scene
  const config = JSON.parse(await readFile(join(home, 'config.yaml'), 'utf8')) as object
  const own = async (engine: string) =>
    writeFile(join(home, 'config.yaml'), JSON.stringify({ ...config, context: { engine } }))
  await writeFile(
    join(home, 'engine.mjs'),
    `export const createContextEngine = () => ({
      isDue: ({ tokens }) => tokens > 9000,
      plan: () => null,
      compact: async ({ entries }) => ({
        type: 'compacted', isSummarized: true, usage: { inputTokens: 0, outputTokens: 0 },
        entry: { upToSeq: entries.findLast((entry) => entry.message?.role === 'tool').seq, summary: 'MINE', tokensAfter: 100 },
      }),
    })`,
  )
  await own('engine.mjs')
  read(6, RECORD)
  const run = await runCli(['chat', '-q', TASK, '--yolo'], { home, cwd })
  expect(run.exitCode).toBe(0)
  const last = JSON.stringify(server.requests.at(-1)!.body.messages)
  expect(last).toContain('MINE')
  expect(last).toContain('Never touch secret.txt.')
  expect(server.requests.filter(isSummary)).toEqual([])
  await own('nowhere')
  const usual = await runCli(['chat', '-q', TASK, '--yolo'], { home, cwd })
  expect(usual.stderr).toContain('context.engine: there is no module "nowhere"')
})
