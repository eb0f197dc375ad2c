import type { JsonObject } from '@hermes/contracts'

/** One call of a task, and what came of it. */
export interface Step {
  readonly tool: string
  readonly args: JsonObject
  readonly effect: 'read' | 'write'
  readonly text: string
  readonly isError: boolean
}

const WRITES: readonly string[] = ['write_file', 'patch', 'terminal', 'process', 'execute_code', 'memory', 'delegate_task']

const step = (tool: string, args: JsonObject, text = 'done', isError = false): Step => ({
  tool,
  args,
  effect: WRITES.includes(tool) ? 'write' : 'read',
  text,
  isError,
})
const times = (count: number, make: (n: number) => Step | readonly Step[]): readonly Step[] =>
  Array.from({ length: count }, (_, n) => make(n)).flat()

const read = (path: string, text = `text of ${path}`, more: JsonObject = {}) => step('read_file', { path, ...more }, text)
const missing = (path: string) => step('read_file', { path }, `There is no file ${path}.`, true)
const write = (path: string, content = 'x') => step('write_file', { path, content })
const patch = (path: string, n = 0) => step('patch', { path, old_string: `a${n}`, new_string: `b${n}` })
const slip = (path: string, n = 0) => step('patch', { path, old_string: `c${n}`, new_string: 'd' }, 'old_string was not found.', true)
const run = (command: string, text = 'ok', isError = false) => step('terminal', { command }, text, isError)
const find = (pattern: string, text = `matches of ${pattern}`, more: JsonObject = {}) => step('search_files', { pattern, ...more }, text)
const poll = (text: string) => step('process', { action: 'poll', session_id: 'p1' }, text)
const todo = (n: number) => step('todo_write', { merge: true, todos: [{ id: String(n), status: 'completed' }] }, `${n} done`)
const fetch = (url: string, text = `page ${url}`, isError = false) => step('web_extract', { urls: [url] }, text, isError)

/** Work that repeats itself by its nature, call by call. No guard may stop any of it. */
export const REPETITIVE_TASKS: Readonly<Record<string, readonly Step[]>> = {
  'a symbol renamed in forty files': times(40, (n) => [read(`src/${n}.ts`), patch(`src/${n}.ts`)]),
  'the same edit in thirty files': times(30, (n) => step('patch', { path: `f${n}`, old_string: 'a', new_string: 'b' })),
  'a licence put above sixty files': times(60, (n) => patch(`lib/${n}.js`)),
  'a test mended until it passes': times(14, (n) => [patch('src/a.ts', n), run('npm test', '1 failed', true)]),
  'a build that fails in the same way for a while': times(12, (n) => [patch('Makefile', n), run('make', 'error: x', true)]),
  'a test that is run over and over to find a race': times(25, () => run('npm test', 'all passed')),
  'a server that is waited for': times(30, () => poll('still starting')),
  'a long build that is polled': times(40, (n) => poll(`step ${n} of 40`)),
  'a large file read page by page': times(30, (n) => read('big.log', `page ${n}`, { offset: n * 500 })),
  'the end of a log read while it grows': times(20, (n) => read('app.log', `${n} lines`)),
  'search results page by page': times(20, (n) => find('TODO', `page ${n}`, { offset: n * 50 })),
  'thirty different searches': times(30, (n) => find(`name${n}`)),
  'searches that all find nothing': times(20, (n) => find(`ghost${n}`, 'No matches.')),
  'a file looked at after each of its edits': times(20, (n) => [patch('a.ts', n), read('a.ts', `version ${n}`)]),
  'a file that stays the same looked at between edits of another': times(20, (n) => [patch('b.ts', n), read('a.ts', 'same')]),
  'an interface read again beside each implementation': times(15, (n) => [read('port.ts', 'same'), write(`impl${n}.ts`)]),
  'edits that miss once and then hit': times(15, (n) => [slip('a.ts', n), read('a.ts', `now ${n}`), patch('a.ts', n)]),
  'two misses before each hit': times(10, (n) => [slip('a.ts', n), slip('a.ts', n + 100), patch('a.ts', n)]),
  'files guessed at until one is there': [...times(6, (n) => missing(`config.${n}`)), read('config.yaml')],
  'guesses in several places': times(6, (n) => [missing(`a/${n}`), missing(`b/${n}`), read(`c/${n}`)]),
  'a task list kept up to date': times(25, (n) => [patch(`s${n}.ts`), todo(n)]),
  'a status asked for between commands': times(20, (n) => [run(`git add ${n}`), run('git status', 'same')]),
  'the same command in twenty folders': times(20, (n) => step('terminal', { command: 'npm test', workdir: `pkg/${n}` })),
  'a command that prints the same each time': times(30, () => run('date +%Y', '2026')),
  'a linter that finds one thing after the other': times(20, (n) => [run('npm run lint', `error ${n}`, true), patch('a.ts', n)]),
  'type errors mended one by one': times(20, (n) => [run('tsc', `${20 - n} errors`, true), patch('b.ts', n)]),
  'a bisect': times(12, (n) => [run('git bisect next', `commit ${n}`), run('npm test', 'failed', n % 2 === 0)]),
  'commits one by one': times(15, (n) => [run(`git add f${n}`), run(`git commit -m ${n}`)]),
  'a migration of thirty tables': times(30, (n) => [read(`t${n}.sql`), write(`t${n}.new.sql`)]),
  'translations of twenty pages': times(20, (n) => [read(`en/${n}.md`), write(`de/${n}.md`)]),
  'fixtures written by hand': times(50, (n) => write(`fixtures/${n}.json`)),
  'a file written again and again': times(12, (n) => write('draft.md', `draft ${n}`)),
  'the same content written twice for each of ten': times(10, (n) => [write(`o${n}`), write(`o${n}`)]),
  'pages of a site read': times(25, (n) => fetch(`https://example.com/${n}`)),
  'pages that do not load at first': times(8, (n) => [fetch(`https://example.com/${n}`, 'timeout', true), fetch(`https://example.com/${n}`)]),
  'a page that is watched for a change': times(15, () => fetch('https://example.com/status', 'building')),
  'a site that is down': times(12, (n) => fetch(`https://down.example.com/${n}`, 'refused', true)),
  'a program tried until it works': times(10, (n) => step('execute_code', { code: `try ${n}` }, 'Traceback', true)),
  'the same program run on growing data': times(12, (n) => step('execute_code', { code: 'count()' }, String(n))),
  'memories noted one by one': times(15, (n) => step('memory', { action: 'add', text: `fact ${n}` })),
  'old conversations searched': times(15, (n) => step('session_search', { query: `topic ${n}` }, `hits ${n}`)),
  'tasks delegated one by one': times(8, (n) => step('delegate_task', { goal: `part ${n}` })),
  'questions to the user, each another': times(6, (n) => step('clarify', { question: `Which ${n}?` }, `this ${n}`)),
  'a directory listed level by level': times(20, (n) => find('*', `level ${n}`, { target: 'files', path: `d${n}` })),
  'a list looked at twice before each change': times(12, (n) => [find('*', 'list', { target: 'files' }), find('*', 'list', { target: 'files' }), write(`n${n}`)]),
  'a review of fifty files without an edit': times(50, (n) => read(`src/${n}.ts`)),
  'a read that fails until a command makes the file': times(4, (n) => [missing('out.json'), run(`make ${n}`), read('out.json', `v${n}`)]),
  'snapshots accepted package by package': times(15, (n) => [run(`vitest -u pkg${n}`), read(`pkg${n}/snap`)]),
  'logs of ten servers compared': times(10, (n) => [run(`ssh s${n} tail log`), find(`error${n}`)]),
  'a table of contents kept in step': times(20, (n) => [write(`chapter${n}.md`), patch('index.md', n), read('index.md', `toc ${n}`)]),
  'an old call repeated much later': [read('a'), ...times(20, (n) => [read(`b${n}`), patch(`b${n}`)]), read('a'), read('c')],
  'one flaky tool among others that work': times(12, (n) => [step('vision_analyze', { image: n }, 'busy', n % 3 === 0), patch('a', n)]),
}
