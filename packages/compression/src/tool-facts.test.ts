// What only a result of a tool says reaches whoever writes the summary, wherever in the result it stands.
import { type Message, type ToolCallPart, userText } from '@hermes/contracts/conversation'
import { expect, it } from 'vitest'
import { renderTranscript } from './transcript.js'

const WINDOW = 64_000

/** The tool, its arguments, the line of its result that counts, and what fills the rest of it. */
const FACTS: readonly (readonly [tool: string, args: object, fact: string, filler: (at: number) => string])[] = [
  [
    'terminal',
    { command: 'npm ls' },
    'react-dom@18.3.1 deduped invalid: "^19.0.0"',
    (at) => `├── package-${at}@1.0.${at}`,
  ],
  ['terminal', { command: 'npm test' }, 'FAIL src/cart.test.ts > adds tax twice', (at) => `ok ${at} - case ${at}`],
  ['terminal', { command: 'make' }, 'ld: cannot find -lpq', (at) => `cc -c src/file${at}.c -o build/file${at}.o`],
  ['terminal', { command: 'git log' }, 'commit 9f3c1e7 reverts the cache', (at) => `the words of message number ${at}`],
  [
    'terminal',
    { command: 'ss -ltnp' },
    'LISTEN 0 511 127.0.0.1:5433 users:(("postgres"))',
    () => 'some header line of it',
  ],
  ['terminal', { command: 'df -h' }, '/dev/nvme0n1p2 468G 461G 0 100% /var', (at) => `tmpfs number ${at} of the list`],
  [
    'read_file',
    { path: 'config.ts' },
    '41|  retryBudget: 17,',
    (at) => `${at}|    // a comment about nothing in particular`,
  ],
  ['read_file', { path: '.tool-versions' }, '7|nodejs 22.11.0', (at) => `${at}|# of the history of this file`],
  [
    'read_file',
    { path: 'docker-compose.yml' },
    '12|    image: registry.acme.test/api:2024-11',
    (at) => `${at}|      - a list of words`,
  ],
  [
    'search_files',
    { pattern: 'legacy' },
    'src/billing/legacy.ts:88: // remove after invoice 4711',
    (at) => `src/a.ts:${at}: legacy`,
  ],
  [
    'web_extract',
    { urls: ['https://acme.test'] },
    'The limit is 40 requests per minute since v3.2.',
    () => 'Lorem ipsum dolor sit amet, and so on.',
  ],
  [
    'process',
    { action: 'log', session_id: 'p1' },
    'Server ready at http://localhost:5199/admin',
    (at) => `[${at}] waiting for the database`,
  ],
  ['execute_code', { code: 'main()' }, 'median=48.31 outliers=7', (at) => `row ${at} read`],
  ['browser_snapshot', {}, 'heading "Order 88-1204 was declined" [ref=e7]', (at) => `listitem [ref=e${at}]`],
  ['mcp_tickets', { id: 7 }, 'assignee: m.okafor@acme.test', (at) => `comment ${at} by nobody`],
  [
    'delegate_task',
    { goal: 'Look' },
    'Root cause: ClockSkewError in auth/token.go',
    (at) => `The child did step ${at}.`,
  ],
]

function session(
  place: number,
): readonly { readonly seq: number; readonly tokens: number; readonly message: Message }[] {
  const messages: Message[] = [userText('Find out what is wrong.')]
  for (const [index, [toolName, args, fact, filler]] of FACTS.entries()) {
    const id = `c${index}`
    const call: ToolCallPart = {
      type: 'tool-call',
      id,
      name: toolName,
      args: args as never,
      rawArgs: JSON.stringify(args),
    }
    const lines = Array.from({ length: 60 }, (_, at) => filler(at))
    lines.splice(Math.floor(place * lines.length), 0, fact)
    messages.push({ role: 'assistant', content: [call], finishReason: 'tool-calls' })
    messages.push({ role: 'tool', callId: id, toolName, content: [{ type: 'text', text: lines.join('\n') }] })
  }
  return messages.map((message, index) => ({ seq: index + 1, tokens: 0, message }))
}

const bare = (fact: string) => fact.replace(/^\d+\|/, '').trim()

it.each([0.1, 0.5, 0.9])('at %d of a result', (place) => {
  const text = renderTranscript(session(place), WINDOW * 0.6)
  expect(FACTS.map(([, , fact]) => bare(fact)).filter((fact) => !text.includes(fact))).toEqual([])
  // Less than a fifth of what was there.
  expect(text.length).toBeLessThan(JSON.stringify(session(place)).length / 2)
})

it('tells first of all of what the agent took up, and of what went wrong', () => {
  const noise = Array.from(
    { length: 300 },
    (_, at) => `value${String.fromCharCode(97 + (at % 26))}${at}x = ${at}.${at}.1 /srv/a/${at}`,
  )
  const lines = [...noise.slice(0, 150), 'the parser is in lib/fastParse.js', 'error: no licence', ...noise.slice(150)]
  const messages: readonly Message[] = [
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'terminal', args: {}, rawArgs: '{}' }] },
    { role: 'tool', callId: 'c', toolName: 'terminal', content: [{ type: 'text', text: lines.join('\n') }] },
    { role: 'assistant', content: [{ type: 'text', text: 'So it is lib/fastParse.js.' }] },
  ]
  const text = renderTranscript(
    messages.map((message, seq) => ({ seq, tokens: 0, message })),
    2_000,
  )
  expect(text).toContain('  the parser is in lib/fastParse.js')
  expect(text).toContain('  error: no licence')
})
