// A workspace in which each kind of thing is made by a script that wants a flag, and a model that follows only what stands in its context: with the right
// skill it takes the short way, without it the long one.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@hermes/commands'
import type { CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { type CapturedRequest, type ModelServer, type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { openRuntime } from '../../open-runtime.js'

/** Kinds of things, with what a skill about one says that it is for. */
export const KINDS: Readonly<Record<string, string>> = {
  invoice: 'Bills a customer for work of a month.',
  thumbnail: 'Small picture from a photograph, for the shop.',
  changelog: 'Lists commits since the last release.',
  mirror: 'Copies a website for reading offline.',
  digest: 'Sums up newsletters of one week.',
}
const PAGES = ['README.txt', 'docs/one.txt', 'docs/three.txt']

/** An agent that learns, and the person it works for. */
export interface Learner {
  readonly server: ModelServer
  /** How often a tool was called so far. */
  calls(): number
  /** A session in which a person says these things and agrees to what is to be saved; gives the answers. */
  session(...words: readonly string[]): Promise<readonly string[]>
  /** A task of each kind for each of two items; gives how many calls they took. */
  round(name: string, kinds?: readonly string[]): Promise<number>
  /** What a command gives, as text. */
  typed(name: string, line: string): Promise<string>
  /** What was made: `KIND-ITEM`. */
  made(name: string): Promise<string>
  close(): Promise<void>
}

/** Opens one in a home of its own; `config` is added to its config.yaml. */
export async function openLearner(config: object = {}): Promise<Learner> {
  const [server, home] = [await startModelServer(), await temporaryHome()]
  const [root, cwd] = [join(home.path, 'home'), join(home.path, 'work')]
  await layOut({ root, cwd, config: { model: { default: 'm', base_url: server.baseUrl, context_length: 200_000 }, ...config } })
  const place = { home: root, userHome: home.path, cwd, tempDir: home.path, user: 'ada', env: { PATH: process.env['PATH']! } }
  const runtime = await openRuntime({ ...place, yolo: true })
  await runtime.trust.answer(cwd, true)
  let calls = 0
  server.setHandler((request) => {
    const step = follow(request)
    if ('toolCalls' in step) calls++
    return step
  })
  const typed = async (name: string, line: string): Promise<string> => {
    const command = runtime.extensions.list('command').find(({ item }) => item.name === name)!.item
    return (await runCommand(command, line, owner(cwd))).map(textOf).join('\n')
  }
  const session = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { agent, close } = await runtime.createAgent({ platform: 'cli' })
    const answers: string[] = []
    for (const message of words) answers.push((await agent.run(message).result).text)
    await close()
    // What was read was written by others: what an agent learns from it waits for a yes.
    if (!(await typed('skills', 'pending')).startsWith('No change')) await typed('skills', 'approve all')
    return answers
  }
  return {
    ...{ server, typed, session, calls: () => calls },
    made: (name) => readFile(join(cwd, 'out', `${name}.txt`), 'utf8'),
    round: async (name, kinds = Object.keys(KINDS)) => {
      const before = calls
      for (const item of ['one', 'two'])
        for (const kind of kinds) await session(`Make the ${kind} of ${name}${item}`, 'Great, that went well.')
      const done = (await readdir(join(cwd, 'out'))).filter((file) => file.includes(name))
      if (done.length !== kinds.length * 2) throw new Error(`${done.length} of ${kinds.length * 2} things were made`)
      return calls - before
    },
    close: async () => {
      await runtime.close()
      await server.close()
      await home.remove()
    },
  }
}

/** Pages to read, of which the last one names the flag, and the script. */
async function layOut({ root, cwd, config }: { readonly root: string; readonly cwd: string; readonly config: object }): Promise<void> {
  for (const folder of [root, join(cwd, 'docs'), join(cwd, 'out')]) await mkdir(folder, { recursive: true })
  const off = { enabled: false }
  const auxiliary = { title_generation: off, session_summary: off }
  const memory = { flush_min_turns: 0 }
  await writeFile(
    join(root, 'config.yaml'),
    JSON.stringify({ auxiliary, memory, checkpoints: off, terminal: { isolation: 'off' }, ...config }),
  )
  const filler = 'Words about something else that has nothing to do with it.\n'.repeat(40)
  for (const page of PAGES)
    await writeFile(join(cwd, page), `${filler}${page.endsWith('three.txt') ? 'The flag is --sealed.\n' : ''}`)
  const script =
    '[ "$3" = --sealed ] || { echo "wrong flag"; exit 1; }; echo "$1 $2 ${4:-plain}" > "out/$1-$2.txt"; seq -f "Step %g of 80 of the work is done." 80'
  await writeFile(join(cwd, 'make.sh'), script)
}

function owner(cwd: string): CommandContext {
  const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] }
  const signal = new AbortController().signal
  return { caller, session: null, cwd, commands: [], notice: () => undefined, signal } as unknown as CommandContext
}

function textOf(output: CommandOutput): string {
  if ('text' in output) return output.text
  return 'rows' in output ? output.rows.map(({ cells }) => cells.join(' | ')).join('\n') || output.empty : ''
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
