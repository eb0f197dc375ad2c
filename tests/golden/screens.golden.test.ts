// One long conversation at three widths: the screen with its history as two terminals show the same bytes, tmux and xterm, and as it was
// recorded. Every line stands there once, and nothing ever clears the screen.
import { execFileSync } from 'node:child_process'
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
  /** Comes with the line, as a paste. */
  readonly pasted?: string
  /** An earlier flow types it. */
  readonly isTypedBefore?: true
  /** Between the line and its end. */
  readonly acts?: (terminal: Terminal, cwd: string) => Promise<unknown>
  /** What the screen ends with, before the line to type in. Default: the last mark of the answer. */
  readonly ends?: string
}

/** The smallest image. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

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
  {
    line: 'delete it',
    steps: [{ toolCalls: [call('terminal', { command: 'rm -rf build' })] }, { text: 'M46' }],
    acts: async (terminal) => {
      await terminal.shows('[n] no')
      await terminal.type('i')
      await terminal.shows('do instead?')
      await terminal.type('Call it old.')
      await terminal.press('Enter')
    },
  },
  {
    line: 'remove it',
    steps: [{ toolCalls: [call('terminal', { command: 'rm -rf build' })] }, { text: 'M47' }],
    acts: async (terminal) => {
      await terminal.shows('[n] no')
      await terminal.type('y')
    },
  },
  {
    line: 'read two parts',
    steps: [
      { toolCalls: [call('read_file', { path: 'b.txt', limit: 1 }), call('read_file', { path: 'b.txt', offset: 2 })] },
      { text: 'M48' },
    ],
  },
  { line: '/details', steps: [], ends: 'two' },
  {
    line: 'step by step',
    steps: [
      {
        toolCalls: [
          call('todo_write', {
            todos: [
              { id: '3', content: 'M49', status: 'completed' },
              { id: '4', content: 'M50', status: 'in_progress' },
              { id: '5', content: 'M51', status: 'pending' },
            ],
          }),
        ],
      },
      { text: 'M52' },
    ],
  },
  {
    line: 'have it counted',
    steps: [{ toolCalls: [call('delegate_task', { goal: 'Count the stones now.' })] }, { text: 'M53' }],
  },
  {
    line: 'start it',
    steps: [
      { toolCalls: [call('terminal', { command: 'read line < gate; exit 3', background: true })] },
      { text: 'M54' },
    ],
    acts: async (terminal) => {
      await terminal.shows(/M54\n>$/)
      await terminal.type('!echo > gate')
      await terminal.press('Enter')
    },
    ends: 'has ended',
  },
  { line: 'what is on it ./dot.png', steps: [{ text: 'A dot, M55.' }] },
  {
    line: 'see what I pasted ',
    pasted: many(30, 'pasted line').join('\n'),
    steps: [{ text: 'M56' }],
  },
  { line: 'weigh it', steps: [{ reasoning: 'A long thought. '.repeat(20), text: 'M57' }] },
  {
    line: 'a wide table',
    steps: [
      {
        text: `| ${many(9, 'column').join(' | ')} |\n${'|---'.repeat(9)}|\n| ${many(9, 'a value of').join(' | ')} |\n\nM58`,
      },
    ],
  },
  {
    line: 'a long fence',
    steps: [{ text: `\`\`\`py\n${many(150, `print("${'wide '.repeat(20)}")  #`).join('\n')}\n\`\`\`\n\nM59` }],
  },
  {
    line: 'count without end',
    steps: [{ fault: 'stall', text: `M60\n\n${'sheep and '.repeat(40)}`, chunkSize: 50, afterChunks: 2 }],
    acts: async (terminal) => {
      await terminal.shows('sheep and')
      await terminal.press('Escape')
    },
    ends: 'Stopped',
  },
  {
    line: 'take your time',
    steps: [{ toolCalls: [call('terminal', { command: 'read line < gate; echo through' })] }, { text: 'M61' }],
    acts: async (terminal, cwd) => {
      await terminal.shows(/terminal {2}read line/)
      await terminal.type('and then rest')
      await terminal.press('Enter')
      await terminal.shows(/rest[^>]*>$/)
      await writeFile(join(cwd, 'gate'), '\n')
    },
    ends: 'M62',
  },
  { line: 'and then rest', isTypedBefore: true, steps: [{ text: 'M62' }] },
  { line: '/plan', steps: [], ends: 'plan' },
  { line: 'only look', steps: [{ toolCalls: [call('write_file', { path: 'c.txt', content: 'c' })] }, { text: 'M63' }] },
  { line: '/plan off', steps: [], ends: 'plan' },
  { line: '/btw is it late', steps: [], ends: 'M64' },
  {
    line: '/nosuchagain',
    steps: [],
    acts: async (terminal) => {
      await terminal.shows(/nosuchagain[^>]*>$/)
      await terminal.press('C-r')
      await terminal.type('A gard')
      await terminal.press('Enter')
      await terminal.press('Enter')
    },
    ends: 'A garden',
  },
  { line: 'the end', steps: [{ text: 'M65' }] },
]

/** What is asked besides. */
const OTHERS: readonly Flow[] = [
  { line: 'Count the stones now.', steps: [{ text: 'Seven.' }] },
  { line: 'is it late', steps: [{ text: 'M64' }] },
]

const MARKS = Array.from({ length: 65 }, (_, index) => `M${String(index + 1).padStart(2, '0')}`)

/** Answers by what was said last, so that several conversations can go on at a time; a message that failed goes with the next one. */
function answer(messages: readonly { readonly role: string; readonly content?: unknown }[]): ModelStep {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const words = JSON.stringify(messages[at]?.content)
  const flow = [...FLOWS, ...OTHERS].findLast(
    ({ line, steps }) => steps.length > 0 && words.includes(JSON.stringify(line).slice(1, -3)),
  )
  const done = messages.slice(at).filter(({ role }) => role === 'assistant').length
  return flow?.steps[done] ?? { fault: 'status', status: 500 }
}

interface Setup {
  readonly columns: number
  readonly flows?: readonly Flow[]
  readonly name?: string
  readonly env?: Record<string, string>
  readonly display?: object
}

interface Screen {
  readonly rows: readonly string[]
  readonly bytes: string
  /** Whether anything that is seen at the end has a colour or another style. */
  readonly isStyled: boolean
}

async function converse({ columns, flows = FLOWS, name = `${columns}`, env, display }: Setup): Promise<Screen> {
  const [home, cwd] = [join(scene.folder, `user-${name}`), join(scene.folder, `work-${name}`)]
  if (display) {
    await mkdir(home)
    await writeFile(join(home, 'config.yaml'), JSON.stringify({ display }))
  }
  await mkdir(cwd)
  await writeFile(join(cwd, 'b.txt'), 'one\ntwo\n')
  await writeFile(join(cwd, 'dot.png'), DOT)
  execFileSync('mkfifo', [join(cwd, 'gate')])
  await mkdir(join(cwd, 'build'))
  const record = join(scene.folder, `bytes-${name}`)
  const args = ['--base-url', scene.server.baseUrl, '-m', 'test']
  await using terminal = await openTerminal(args, { home, cwd, columns, rows: ROWS, record, ...(env ? { env } : {}) })
  await terminal.shows(/\n>$/)
  for (const { line, pasted, isTypedBefore, steps, acts, ends } of flows) {
    if (isTypedBefore) continue
    await terminal.type(pasted === undefined ? line : `${line}\u001B[200~${pasted}\u001B[201~`)
    await terminal.press('Enter')
    await acts?.(terminal, cwd)
    const last = ends ?? JSON.stringify(steps).match(/M\d\d/g)!.at(-1)!
    await terminal.shows(new RegExp(`${last.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}[^>]*\\n>$`))
  }
  const isStyled = await terminal.colours()
  await terminal.press('C-d')
  await terminal.exitCode()
  return { rows: await terminal.rows(), bytes: await readFile(record, 'utf8'), isStyled }
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
  const last = rows.findIndex((row) => /^(?:> )?Go on later/.test(row))
  return rows.slice(0, last).map((row) =>
    row
      // Of a call that took no millisecond nothing is said.
      .replace(/^((?:done|failed): .*) · \d+(?:\.\d+)? m?s$/, '$1')
      .replace(CALL, '$1 …$2 · <duration>')
      .replace(/^(✓ read {2}\S+)( · \d+ lines)$/, '$1 …$2 · <duration>')
      .replace(/proc_[0-9a-f]{8}/, 'proc_<random>')
      .replace(/ · \d+(?:\.\d+)? m?s$/, ' · <duration>'),
  )
}

needs('tmux', hasTmux)('screens', () => {
  it('stand at three widths as they were recorded, every line once, in two terminals', async () => {
    scene.server.setHandler(({ body }) => answer(body.messages))
    const screens = await Promise.all(WIDTHS.map((columns) => converse({ columns })))
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

  it('stand in 16 columns, without colours, and as they are read aloud, as they were recorded', async () => {
    scene.server.setHandler(({ body }) => answer(body.messages))
    const lines = ['a head', 'a list', 'a table', 'a diff', 'fail', 'write', 'read it', 'plan it', 'the end']
    const flows = FLOWS.filter(({ line }) => lines.includes(line))
    const [narrow, plain, spoken] = await Promise.all([
      converse({ columns: 16, flows }),
      converse({ columns: 80, flows, name: 'no-color', env: { NO_COLOR: '1' } }),
      converse({ columns: 80, flows, name: 'screen-reader', display: { screen_reader: true } }),
    ])
    expect(narrow.isStyled).toBe(true)
    expect(plain.isStyled).toBe(false)
    // Nothing is drawn again for who hears it: no row is gone back to.
    expect(spoken.bytes.match(/\u001B\[\d*[AHL]/g)).toBeNull()
    compareGolden('screens/16-columns', steady(narrow.rows))
    compareGolden('screens/no-color', steady(plain.rows))
    compareGolden('screens/screen-reader', steady(spoken.rows))
  }, 120_000)
})
