// A session of a hundred and twenty turns that is compacted five times finishes its task. It is recorded while a model plays that knows nothing
// but what each request says, the records of what was compacted among it, then replayed in another home, where every request has to be the same.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapturedRequest, ModelStep } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { parseEvents, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const PARTS = 120
const READS_PER_MESSAGE = 24
const WINDOW = 28_000
const TASK =
  'Follow the trail of files that begins with part-0.txt and add up the numbers in them. Where it ends, write the sum to total.txt and say all words that belong together. Never read secret.txt.'
const numberOf = (part: number) => (part * 7919) % 1_000
/** Every so many parts a word is to be found that belongs into the last answer. It is in no message of the end. */
const WORD_EVERY = 20
const wordOf = (part: number) => `w${numberOf(part)}x${part}`
const WORDS = Array.from({ length: PARTS / WORD_EVERY }, (_, index) => wordOf(index * WORD_EVERY))
const SUM = Array.from({ length: PARTS }, (_, part) => numberOf(part)).reduce((sum, each) => sum + each, 0)

async function lay(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const filler = 'nothing of note is to be found on this line\n'.repeat(48)
  for (let part = 0; part < PARTS; part++) {
    const next = part + 1 < PARTS ? `The next one is part-${part + 1}.txt.` : 'The trail ends here.'
    const word = part % WORD_EVERY === 0 ? `The word is ${wordOf(part)}. ` : ''
    await writeFile(join(folder, `part-${part}.txt`), `${filler}${word}The number is ${numberOf(part)}. ${next}\n`)
  }
}

const isSummary = ({ body }: CapturedRequest) => JSON.stringify(body.messages[0]).includes('You write the record')
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('\n')

/** The record of a model that writes down what it is given, and nothing else. */
function record({ body }: CapturedRequest): ModelStep {
  const all = body.messages.map(({ content }) => textOf(content)).join('\n')
  return {
    text: `## Active Task\nfollow the trail\n\n## Goal\na sum\n\n## Completed Actions\n${wordsIn(all)
      .map((word) => `- The word is ${word}.`)
      .join('\n')}`,
  }
}

const wordsIn = (text: string) => [
  ...new Set(Array.from(text.matchAll(/The word is (w\d+x\d+)/g), ([, word]) => word!)),
]

/** What a model does that sees this request and remembers nothing. */
function nextStep(request: CapturedRequest): ModelStep {
  const { messages } = request.body
  const usage = { inputTokens: Math.ceil(JSON.stringify(request.body).length / 4), outputTokens: 30 }
  const all = messages.map(({ content }) => textOf(content)).join('\n')
  const [, file] = /write the sum to (\S+) and say all words/.exec(all) ?? []
  const result = messages.at(-1)?.role === 'tool' ? textOf(messages.at(-1)?.content) : ''
  const text = messages.findLast(({ role, content }) => role === 'assistant' && textOf(content).includes('Sum so far'))
  const [, before = '0', after = 'part-0.txt', count = '0'] =
    /Sum so far: (\d+)\. Then (\S+), (\d+) read\./.exec(textOf(text?.content)) ?? []
  if (file === undefined) return { text: 'I do not know the task any more.' }
  if (result.startsWith('Created ')) return { text: wordsIn(all).join(' '), usage }
  const number = /The number is (\d+)\./.exec(result)?.[1]
  const sum = Number(before) + Number(number ?? 0)
  if (result.includes('The trail ends here'))
    return { usage, toolCalls: [{ name: 'write_file', args: { path: file, content: `${sum}\n` } }] }
  const next = /The next one is (\S+)\.\n?/.exec(result)?.[1] ?? after
  const read = Number(count) + (number === undefined ? 0 : 1)
  const progress = `${wordsIn(result)
    .map((word) => `The word is ${word}. `)
    .join('')}Sum so far: ${sum}. Then ${next}, ${read} read.`
  if (number !== undefined && read % READS_PER_MESSAGE === 0 && read < PARTS) return { text: progress, usage }
  return { text: progress, usage, toolCalls: [{ name: 'read_file', args: { path: next } }] }
}

interface Played {
  readonly compactions: number
  readonly turns: number
  readonly text: string
}

/** Five messages, each in a process of its own. */
async function play(
  place: { home: string; cwd: string },
  flagsOf: (message: number) => readonly string[],
): Promise<Played> {
  let compactions = 0
  let turns = 0
  let text = ''
  for (let message = 0; message < PARTS / READS_PER_MESSAGE; message++) {
    const words = message === 0 ? ['-q', TASK] : ['-c', '-q', 'Go on.']
    const run = await runCli(['chat', ...words, '--json', ...flagsOf(message)], place)
    const events = parseEvents(run.stdout)
    const end = events.at(-1)
    expect(run.exitCode, run.stderr).toBe(0)
    compactions += events.filter(({ type }) => type === 'compaction-end').length
    turns += events.filter(({ type }) => type === 'message-end').length
    if (end?.type === 'run-end') text = end.result.text
  }
  return { compactions, turns, text }
}

it('finishes its task after five compactions, and again from its recording', async () => {
  const { server, home, cwd } = scene
  await mkdir(home, { recursive: true })
  await lay(cwd)
  await writeFile(join(cwd, 'secret.txt'), 'x')
  const model_overrides = { m: { context_window: WINDOW } }
  const model = { provider: 'custom', default: 'm' }
  const configOf = (base_url: string) => JSON.stringify({ model: { ...model, base_url }, model_overrides })
  await writeFile(join(home, 'config.yaml'), configOf(server.baseUrl))
  server.setHandler((request) => (isSummary(request) ? record(request) : nextStep(request)))
  const recording = (message: number) => join(cwd, '..', `message-${message}.jsonl`)
  const played = await play({ home, cwd }, (message) => ['--record', recording(message)])
  expect(played.text.split(' ').toSorted()).toEqual(WORDS.toSorted())
  expect(await readFile(join(cwd, 'total.txt'), 'utf8')).toBe(`${SUM}\n`)
  expect(played.turns).toBeGreaterThanOrEqual(PARTS)
  process.stdout.write(`${played.turns} turns, ${played.compactions} compactions\n`)
  expect(played.compactions).toBeGreaterThanOrEqual(5)
  expect(server.violations).toEqual([])
  expect(JSON.stringify(server.requests.map(({ body }) => body.messages.at(-1)))).not.toContain('"path":"secret.txt"')

  const elsewhere = { home: join(home, '..', '..', 'other', '.hermes'), cwd: join(cwd, '..', 'elsewhere') }
  await lay(elsewhere.cwd)
  await mkdir(elsewhere.home, { recursive: true })
  await writeFile(join(elsewhere.home, 'config.yaml'), configOf('http://127.0.0.1:1/v1'))
  const requested = server.requests.length
  const replayed = await play(elsewhere, (message) => ['--replay', recording(message)])
  expect(replayed).toEqual(played)
  expect(server.requests).toHaveLength(requested)
  expect(await readFile(join(elsewhere.cwd, 'total.txt'), 'utf8')).toBe(`${SUM}\n`)
}, 180_000)
