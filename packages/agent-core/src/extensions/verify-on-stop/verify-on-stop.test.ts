import type { Message } from '@hermes/contracts/conversation'
import { defineTool, type Tool } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createAgent } from '../../agent.js'
import { type VerifyOnStop, verifyOnStop } from './extension.js'

const tool = (name: string, toolset: string, over: Partial<Tool<{ readonly path: string }>> = {}): Tool =>
  defineTool<{ readonly path: string }>({
    ...{ name, toolset, description: name, effect: 'write', parameters: { type: 'object' } },
    execute: ({ path }) => (path === 'gone.ts' ? { isError: true, text: 'no' } : `${name} ${path}`),
    ...over,
  }) as Tool

const wordsOf = ({ content }: Message) => content.map((part) => ('text' in part ? part.text : '')).join('')
const paths = ({ path }: { readonly path: string }) => [path]
const TOOLS = [
  tool('write_file', 'file', { paths }),
  tool('patch', 'file', { paths }),
  tool('read_file', 'file', { paths, effect: 'read' }),
  tool('search_files', 'file', { effect: 'read', execute: () => 'src/a.ts:1: found' }),
  tool('terminal', 'terminal'),
  tool('todo_write', 'todo'),
  tool('web_search', 'web', { effect: 'read' }),
  tool('execute_code', 'code_execution'),
  tool('browser_open', 'browser'),
]

type Call = readonly [name: string, args: object]
const write = (path: string): Call => ['write_file', { path }]
const sh = (command: string): Call => ['terminal', { command }]
const read = (path: string): Call => ['read_file', { path }]

/** Runs one turn of these replies, a call each, and gives the reminders that came and how many requests were made. */
async function endings(calls: readonly Call[], { mode = 'auto' as VerifyOnStop, check = sh('node a.ts') } = {}) {
  let at = 0
  const reply = ([name, args]: Call) => ({ calls: [[`c${at++}`, name, args]] as const })
  const model = scriptedModel([...calls.map(reply), { text: 'Looks fine.' }, reply(check), { text: 'It works.' }])
  const agent = createAgent({ model, tools: TOOLS, extensions: [verifyOnStop(mode)] })
  const { text } = await agent.run('Fix it.').result
  const messages = model.requests.at(-1)!.messages
  return {
    text,
    requests: model.requests.length,
    reminders: messages.map(wordsOf).filter((line) => line.startsWith('[Not checked yet')),
  }
}

const LOOKS_FINE: readonly (readonly Call[])[] = [
  [write('src/a.ts')],
  [['patch', { path: 'src/a.ts' }]],
  [write('a.py'), write('b.py')],
  [read('src/a.ts'), ['patch', { path: 'src/a.ts' }]],
  [sh('npm test'), ['patch', { path: 'src/a.ts' }]],
  [write('src/a.ts'), ['todo_write', { path: '' }]],
  [write('src/a.ts'), ['web_search', { path: 'how' }]],
  [write('src/a.ts'), sh('git add -A && git commit -m done')],
  [write('src/a.ts'), sh('ls -la src')],
  [write('src/a.ts'), sh('echo done')],
  [write('src/a.ts'), sh('git status')],
  [write('src/a.ts'), read('src/other.ts')],
  [write('src/a.ts'), sh('cat src/other.ts')],
  [write('src/a.ts'), read('src/a.ts'), ['patch', { path: 'src/a.ts' }]],
  [write('src/a.ts'), read('gone.ts')],
  [sh("sed -i 's/a/b/' src/a.ts")],
  [sh('cat > run.sh <<EOF\nls\nEOF')],
  [sh('npm test && cp a.json b.json')],
  [sh('npm test'), sh('printf x >> config.yaml'), sh('mkdir -p out')],
  [write('notes.md'), write('Makefile'), read('notes.md')],
]

it('of 20 endings that look fine 20 are checked, with one answer more than who checks by itself gives', async () => {
  expect(LOOKS_FINE).toHaveLength(20)
  for (const calls of LOOKS_FINE) {
    const { text, requests, reminders } = await endings(calls)
    expect([calls, reminders.length, text, requests]).toEqual([calls, 1, 'It works.', calls.length + 3])
  }
})

it.each<[string, readonly Call[]]>([
  ['nothing was changed', [read('src/a.ts'), sh('git log')]],
  ['an empty file was made', [sh('mkdir -p out && touch out/made')]],
  ['a change failed', [['patch', { path: 'gone.ts' }]]],
  ['something was run since', [write('src/a.ts'), sh('cd src && npm test > out.log 2>&1')]],
  ['a program was run since', [write('src/a.ts'), ['execute_code', { path: 'x' }]]],
  ['a page was looked at since', [write('index.html'), ['browser_open', { path: 'index.html' }]]],
  ['each file was read since', [write('a.json'), write('b.json'), read('a.json'), read('b.json')]],
  ['the difference was looked at since', [write('a.ts'), write('b.ts'), sh('git diff | head -50')]],
  ['a search showed it since', [write('src/a.ts'), ['search_files', { path: 'x' }]]],
  ['the command that writes it runs it', [sh('echo "print(1)" > a.py && python3 a.py')]],
  ['only prose was changed', [write('README.md'), write('LICENSE')]],
])('asks for nothing where %s', async (_, calls) => {
  expect(await endings(calls)).toMatchObject({ text: 'Looks fine.', reminders: [], requests: calls.length + 1 })
})

it('names what is unchecked, reminds once, and goes by the setting', async () => {
  const paths = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts', 'f.ts']
  const { reminders, text } = await endings(paths.map(write), { check: sh('ls') })
  expect(reminders).toEqual([expect.stringContaining('you changed a.ts, b.ts, c.ts, d.ts, e.ts and 1 more and')])
  expect(text).toBe('It works.')
  expect((await endings([write('README.md')], { mode: 'on' })).reminders).toHaveLength(1)
  expect((await endings([write('a.ts')], { mode: 'off' })).reminders).toEqual([])
})

it('does not take a program for a check that made the changes itself', async () => {
  const inner = tool('execute_code', 'code_execution', {
    execute: async (_, { tools }) => {
      await tools!.call('write_file', { path: 'made.py' })
      return 'written'
    },
  })
  const model = scriptedModel([
    { calls: [['c', 'execute_code', { path: 'x' }]] },
    { text: 'Looks fine.' },
    { text: 'So it is.' },
  ])
  const tools = [...TOOLS.filter(({ name }) => name !== 'execute_code'), inner]
  await createAgent({ model, tools, extensions: [verifyOnStop()] }).run('go').result
  expect(wordsOf(model.requests.at(-1)!.messages.at(-1)!)).toContain('you changed made.py')
})
