// A model that follows only what stands in its context learns from what it did: what it saved, and what it was told of it.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@hermes/commands'
import type { CommandContext, CommandOutput } from '@hermes/contracts/extension'
import {
  type CapturedRequest,
  type ModelServer,
  type ModelStep,
  startModelServer,
  type TemporaryHome,
  temporaryHome,
} from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let server: ModelServer
let home: TemporaryHome
let runtime: Runtime
let calls = 0

beforeEach(async () => {
  server = await startModelServer()
  home = await temporaryHome()
  calls = 0
})
afterEach(async () => {
  await runtime.close()
  await server.close()
  await home.remove()
})

const KINDS: Readonly<Record<string, string>> = {
  invoice: 'Bills a customer for work of a month.',
  thumbnail: 'Small picture from a photograph, for the shop.',
  changelog: 'Lists commits since the last release.',
  mirror: 'Copies a website for reading offline.',
  digest: 'Sums up newsletters of one week.',
}
const PAGES = ['README.txt', 'docs/one.txt', 'docs/three.txt']

/** A workspace in which each kind of thing is made by a script that wants a flag, which the last page names. */
async function open(config: object = {}): Promise<void> {
  const [root, cwd] = [join(home.path, 'home'), join(home.path, 'work')]
  for (const folder of [root, join(cwd, 'docs'), join(cwd, 'out')]) await mkdir(folder, { recursive: true })
  const model = { default: 'm', base_url: server.baseUrl, context_length: 200_000 }
  const off = { enabled: false }
  const auxiliary = { title_generation: off, session_summary: off }
  const memory = { flush_min_turns: 0 }
  await writeFile(
    join(root, 'config.yaml'),
    JSON.stringify({ model, auxiliary, memory, checkpoints: off, terminal: { isolation: 'off' }, ...config }),
  )
  const filler = 'Words about something else that has nothing to do with it.\n'.repeat(40)
  for (const page of PAGES)
    await writeFile(join(cwd, page), `${filler}${page.endsWith('three.txt') ? 'The flag is --sealed.\n' : ''}`)
  const script =
    '[ "$3" = --sealed ] || { echo "wrong flag"; exit 1; }; echo "$1 $2 ${4:-plain}" > "out/$1-$2.txt"; seq -f "Step %g of 80 of the work is done." 80'
  await writeFile(join(cwd, 'make.sh'), script)
  const place = {
    home: root,
    userHome: home.path,
    cwd,
    tempDir: home.path,
    user: 'ada',
    env: { PATH: process.env['PATH']! },
  }
  runtime = await openRuntime({ ...place, yolo: true })
  await runtime.trust.answer(cwd, true)
  server.setHandler((request) => {
    const step = follow(request)
    if ('toolCalls' in step) calls++
    return step
  })
}

const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, args }] }) as never
const run = (command: string) => call('terminal', { command })
const manage = (args: object) => call('tool_call', { name: 'skill_manage', arguments: args })

/** The rule table. Nothing is kept between two requests. */
function follow({ body }: CapturedRequest): ModelStep {
  const messages = body.messages.map(({ role, content }) => ({
    role,
    text: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
  }))
  const start = messages.findLastIndex(
    ({ role, text }) => role === 'user' && /Make the|went well|is missing/.test(text),
  )
  const [message = '', first = ''] = [
    messages[start]?.text,
    messages.find(({ text }) => text.includes('Make the'))?.text,
  ]
  const [, kind = '', item = ''] =
    /Make the (\w+) of (\w+)/.exec(start < 0 ? '' : message.includes('Make the') ? message : first) ?? []
  const results = messages.slice(start + 1).filter(({ role }) => role === 'tool')
  if (message.includes('went well'))
    return !message.includes('save the way as a skill') || results.length > 0
      ? { text: 'Fine.' }
      : manage({
          action: 'create',
          name: `make-${kind}`,
          description: KINDS[kind],
          content: `Run: sh make.sh ${kind} ITEM ${flagIn(messages)}`,
        })
  if (message.includes('is missing')) {
    if (results.length === 0) return run(`sh make.sh ${kind} ${item} --sealed --stamped`)
    return message.includes('fix the skill with skill_manage') && results.length === 1
      ? manage({
          action: 'patch',
          name: `make-${kind}`,
          old_string: 'ITEM --sealed',
          new_string: 'ITEM --sealed --stamped',
        })
      : { text: 'Stamped.' }
  }
  const way = results.map(({ text }) => /Run: (sh make\.sh \w+ ITEM[ \w-]*)/.exec(text)?.[1]).find(Boolean)
  if (way) return results.length === 1 ? run(way.replace('ITEM', item)) : { text: 'Done.' }
  if (results.length === 0 && messages[0]!.text.includes(`- make-${kind}: `))
    return call('skill_view', { name: `make-${kind}` })
  const steps = [...PAGES.slice(0, 2), '', ...PAGES.slice(2)]
  if (results.length < steps.length) {
    const page = steps[results.length]!
    return page === '' ? run(`sh make.sh ${kind} ${item} --maybe`) : call('read_file', { path: page })
  }
  if (results.length === steps.length) return run(`sh make.sh ${kind} ${item} ${flagIn(messages)}`)
  return {
    text: results.some(({ text }) => text.includes('offer to save'))
      ? 'Done. How did it go? I can save the way.'
      : 'Done.',
  }
}

const flagIn = (messages: readonly { readonly text: string }[]) =>
  messages.map(({ text }) => /The flag is (--\w+)/.exec(text)?.[1]).find(Boolean) ?? '--unknown'

/** A session in which a person says these things and agrees to what is to be saved; gives the answers. */
async function session(...words: readonly string[]): Promise<readonly string[]> {
  const { agent, close } = await runtime.createAgent({ platform: 'cli' })
  const answers: string[] = []
  for (const message of words) answers.push((await agent.run(message).result).text)
  await close()
  // What was read was written by others: what an agent learns from it waits for a yes.
  if (!(await typed('skills', 'pending')).startsWith('No change')) await typed('skills', 'approve all')
  return answers
}

async function typed(name: string, line: string): Promise<string> {
  const command = runtime.extensions.list('command').find(({ item }) => item.name === name)!.item
  const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] }
  const context = {
    caller,
    session: null,
    cwd: join(home.path, 'work'),
    commands: [],
    notice: () => undefined,
    signal: new AbortController().signal,
  }
  const outputs = await runCommand(command, line, context as unknown as CommandContext)
  return outputs
    .map((output: CommandOutput) =>
      'text' in output
        ? output.text
        : 'rows' in output
          ? output.rows.map(({ cells }) => cells.join(' | ')).join('\n') || output.empty
          : '',
    )
    .join('\n')
}

const made = (name: string) => readFile(join(home.path, 'work/out', `${name}.txt`), 'utf8')

it('writes a skill when it is told that the task went well, uses it, mends it when it is corrected, and then does it right', async () => {
  await open()
  expect(await session('Make the invoice of ada', 'Great, that went well.')).toEqual([
    'Done. How did it go? I can save the way.',
    'Fine.',
  ])
  const before = calls
  expect(await session('Make the invoice of bob', 'No, the stamp is missing.')).toEqual(['Done.', 'Stamped.'])
  expect(calls - before).toBe(4)
  expect(await session('Make the invoice of eve')).toEqual(['Done.'])
  expect(await Promise.all(['invoice-ada', 'invoice-bob', 'invoice-eve'].map(made))).toEqual([
    'invoice ada plain\n',
    'invoice bob --stamped\n',
    'invoice eve --stamped\n',
  ])
  expect(await typed('skills', 'stats')).toMatch(
    /^make-invoice \| 2× \| 2 completed \| 1 corrected \| [\d-]+ \| user, trial$/m,
  )
  const journey = await typed('journey', 'list skill')
  expect(journey.split('\n').map((line) => line.split(' | ').slice(2).join(' | '))).toEqual([
    expect.stringMatching(
      /^skill \| agent, \S+ \| create make-invoice: Bills a customer for work of a month\. \(text from outside was read/,
    ),
    expect.stringMatching(/^skill \| agent, \S+ \| patch make-invoice\/SKILL\.md \(text from outside was read/),
  ])
  await typed('journey', `undo ${journey.split('\n')[1]!.split(' ')[0]}`)
  await session('Make the invoice of zoe')
  expect(await made('invoice-zoe')).toBe('invoice zoe plain\n')
  expect(server.violations).toEqual([])
}, 300_000)

const IS_FULL = process.env['HERMES_TEST_RUNS'] !== undefined

/** A task of each kind for each of two items; gives how many calls they took. */
async function round(name: string, kinds = Object.keys(KINDS)): Promise<number> {
  const before = calls
  for (const item of ['one', 'two'])
    for (const kind of kinds) await session(`Make the ${kind} of ${name}${item}`, 'Great, that went well.')
  const done = (await readdir(join(home.path, 'work/out'))).filter((file) => file.includes(name))
  expect(done).toHaveLength(kinds.length * 2)
  return calls - before
}

it('needs at most half the calls when it does ten tasks again, and skills are less than a tenth of what it reads', async () => {
  await open()
  const [first, second] = [await round('first'), await round('second')]
  expect([first, second]).toEqual([40, 20])
  const [, share] = /Skills are ([\d.]+) % of what tools gave/.exec(await typed('skills', 'stats'))!
  expect(Number(share)).toBeLessThan(10)
}, 300_000)

it('needs as many calls as before where skills are off, and nobody offers to save any', async () => {
  await open({ agent: { disabled_toolsets: ['skills'] } })
  const kinds = Object.keys(KINDS).slice(0, IS_FULL ? 5 : 1)
  const [first, second] = [await round('first', kinds), await round('second', kinds)]
  expect([first, second]).toEqual([kinds.length * 10, kinds.length * 10])
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toContain('as a skill')
}, 300_000)
