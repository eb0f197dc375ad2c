// One long conversation at three widths: the screen with its history as two terminals show the same bytes, tmux and xterm, and as it was
// recorded. Every line stands there once, and nothing ever clears the screen.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelStep } from '@hermes/testkit'
import xterm from '@xterm/headless'
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'
import { compareGolden } from './golden.js'

const scene = useScene()
const ROWS = 30
const HISTORY = 5_000
const WIDTHS = [40, 80, 160]

/** A line of the person, what the model does about it, one step after the other, and what the person does besides. */
interface Flow {
  readonly line: string
  readonly steps: readonly ModelStep[]
  /** Between the line and its end. */
  readonly acts?: (terminal: Terminal) => Promise<unknown>
  /** What the screen ends with, before the line to type in. Default: the last mark of the answer. */
  readonly ends?: string
}

const call = (name: string, args: object) => ({ name, args })
const many = (count: number, word: string) => Array.from({ length: count }, (_, index) => `${word} ${index + 1}`)

/** `M…` are marks that the person never types. */
const FLOWS: readonly Flow[] = [
  { line: 'a head', steps: [{ text: '# M01 Head\n\nWith **M02** and `M03`, *M04*, ~~M05~~.\n\n## M06\n\nM07' }] },
  {
    line: 'a list',
    steps: [{ text: `- M08\n- two\n  - M09 ${'word '.repeat(40)}end\n\n1. M10\n2. second\n\n- [x] M11\n- [ ] M12` }],
  },
  {
    line: 'a table',
    steps: [{ text: `| M13 | n |\n|:--|--:|\n| a | 1 |\n| ${'long cell '.repeat(12)}| 22 |\n| 日本 | M14 |\n\nM15` }],
  },
  {
    line: 'some code',
    steps: [{ text: `\`\`\`ts\nconst M16 = 1 // one\n${many(40, '// line').join('\n')}\n\`\`\`\n\nM17` }],
  },
  { line: 'a diff', steps: [{ text: '```diff\n@@ -1 +1 @@\n-M18\n+M19\n```\n\n> M20 quoted\n\n---\n\nM21' }] },
  { line: 'wide signs', steps: [{ text: '日本語のテキスト。👩‍👩‍👧 é́ \u05E9\u05DC\u05D5\u05DD 🏳️‍🌈 한국어 M22' }] },
  { line: 'what a terminal obeys', steps: [{ text: 'M23 \u001B[2J\u001B[3J\u001Bc\u001B]0;x\u0007\u009B2J\rM24' }] },
  { line: 'a fence without end', steps: [{ text: '```\nM25\nnever closed M26' }] },
  { line: 'a long word', steps: [{ text: `M27${'x'.repeat(500)} M28` }] },
  {
    line: 'many lines',
    steps: [
      {
        text: `M29\n\n${many(120, 'item')
          .map((item) => `- ${item}`)
          .join('\n')}\n\nM30`,
        chunkSize: 7,
      },
    ],
  },
  {
    line: 'fail',
    steps: [{ text: 'M31', toolCalls: [call('terminal', { command: 'seq 1 60; exit 3' })] }, { text: 'M32' }],
  },
  {
    line: 'write',
    steps: [
      { toolCalls: [call('write_file', { path: 'a.txt', content: 'one\nM33\n' })] },
      { toolCalls: [call('patch', { path: 'a.txt', old_string: 'one', new_string: 'M34' })] },
      { text: 'M35' },
    ],
  },
  {
    line: 'read it',
    steps: [
      { toolCalls: [call('read_file', { path: 'b.txt' })] },
      { toolCalls: [call('search_files', { pattern: 'two' })] },
      { text: 'M36' },
    ],
  },
  {
    line: 'plan it',
    steps: [
      {
        toolCalls: [
          call('todo_write', {
            todos: [
              { id: '1', content: 'M37', status: 'completed' },
              { id: '2', content: 'M38', status: 'completed' },
            ],
          }),
        ],
      },
      { text: 'M39' },
    ],
  },
  {
    line: 'clean up',
    steps: [{ toolCalls: [call('terminal', { command: 'rm -rf build' })] }, { text: 'M40' }],
    acts: async (terminal) => {
      await terminal.shows('[n] no')
      await terminal.type('n')
    },
  },
  {
    line: 'let me choose',
    steps: [
      { toolCalls: [call('clarify', { question: 'Which?', choices: ['red', 'blue', 'green'] })] },
      { text: 'M41' },
    ],
    acts: async (terminal) => {
      await terminal.shows('Space marks several')
      await terminal.press('Space', 'Down', 'Down', 'Space', 'Enter')
      await terminal.shows('→ red, green')
    },
  },
  { line: 'slowly', steps: [{ text: many(30, 'word').join(' ').concat(' M42'), chunkSize: 12, latencyMs: 8 }] },
  {
    line: 'a mistake',
    steps: [{ fault: 'status', status: 400, body: { error: { message: 'M43 is wrong' } } }],
    ends: 'M43 is wrong',
  },
  { line: '!printf "M4%s\\n" 4 && exit 5', steps: [], ends: 'exit 5' },
  { line: '/nosuch', steps: [], ends: 'Unknown command' },
  { line: '/title A garden', steps: [], ends: 'A garden' },
  { line: 'two lines \\', steps: [{ text: 'M45' }], acts: (terminal) => terminal.type('of one message\r') },
  { line: 'the end', steps: [{ text: 'M46' }] },
]

const MARKS = Array.from({ length: 46 }, (_, index) => `M${String(index + 1).padStart(2, '0')}`)

/** Answers by what was said last, so that several conversations can go on at a time; a message that failed goes with the next one. */
function answer(messages: readonly { readonly role: string; readonly content?: unknown }[]): ModelStep {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const words = JSON.stringify(messages[at]?.content)
  const flow = FLOWS.findLast(
    ({ line, steps }) => steps.length > 0 && words.includes(JSON.stringify(line).slice(1, -3)),
  )
  const done = messages.slice(at).filter(({ role }) => role === 'assistant').length
  return flow?.steps[done] ?? { fault: 'status', status: 500 }
}

async function converse(columns: number): Promise<{ readonly rows: readonly string[]; readonly bytes: string }> {
  const [home, cwd] = [join(scene.folder, `user-${columns}`), join(scene.folder, `work-${columns}`)]
  await mkdir(cwd)
  await writeFile(join(cwd, 'b.txt'), 'one\ntwo\n')
  await mkdir(join(cwd, 'build'))
  const record = join(scene.folder, `bytes-${columns}`)
  const args = ['--base-url', scene.server.baseUrl, '-m', 'test']
  await using terminal = await openTerminal(args, { home, cwd, columns, rows: ROWS, record })
  await terminal.shows(/\n>$/)
  for (const { line, steps, acts, ends } of FLOWS) {
    await terminal.type(line)
    await terminal.press('Enter')
    await acts?.(terminal)
    const last = ends ?? JSON.stringify(steps).match(/M\d\d/g)!.at(-1)!
    await terminal.shows(new RegExp(`${last.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}[^>]*\\n>$`))
  }
  await terminal.press('C-d')
  await terminal.exitCode()
  return { rows: await terminal.rows(), bytes: await readFile(record, 'utf8') }
}

/** The rows of the same bytes in another terminal. */
async function inXterm(bytes: string, columns: number): Promise<readonly string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows: ROWS, scrollback: HISTORY, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  const { active } = terminal.buffer
  const rows = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
  terminal.dispose()
  return rows.join('\n').replace(/ +$/gm, '').trimEnd().split('\n')
}

const CALL = /^([✓✗] \w+ {2}\S+).*?((?: · [^·]+)*) · \d+(?:\.\d+)? m?s$/

/** Without what depends on the clock: how long calls took, with how much of a title that leaves room for, and the id of the session at the end. */
function steady(rows: readonly string[]): readonly string[] {
  const last = rows.findIndex((row) => row.startsWith('Go on later'))
  return rows.slice(0, last).map((row) => row.replace(CALL, '$1 …$2 · <duration>'))
}

needs('tmux', hasTmux)('screens', () => {
  it('stand at three widths as they were recorded, every line once, in two terminals', async () => {
    scene.server.setHandler(({ body }) => answer(body.messages))
    const screens = await Promise.all(WIDTHS.map(converse))
    for (const [index, { rows, bytes }] of screens.entries()) {
      const columns = WIDTHS[index]!
      const text = rows.join('\n')
      const counts = MARKS.map((mark) => `${mark} ${text.split(mark).length - 1}`)
      expect(counts.filter((count) => !count.endsWith(' 1'))).toEqual([])
      // Screen, history, a reset, another screen: nothing of that is for an interface that leaves the history alone.
      expect(bytes.match(/\u001B(?:\[[23]J|c|\[\?(?:1049|47|1047)h)/g)).toBeNull()
      expect(await inXterm(bytes, columns)).toEqual(rows)
      compareGolden(`screens/${columns}-columns`, steady(rows))
    }
  }, 120_000)
})
