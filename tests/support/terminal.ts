import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { CLI, type CliOptions, cliEnv } from './cli.js'
import { openTmuxControl } from './tmux-control.js'
import { withoutTitles } from './without-titles.js'

const run = promisify(execFile)

/** Whether this machine can show a terminal. */
export const hasTmux = (() => {
  try {
    execFileSync('tmux', ['-V'])
    return true
  } catch {
    return false
  }
})()

/** A program in a terminal of its own, as a person sees it. */
export interface Terminal extends AsyncDisposable {
  /**
   * What is on the screen, history included, without colours, the bar and the edge above the line; lines that the terminal broke are whole, empty ones at the end left
   * out.
   */
  screen(): Promise<string>
  /** The rows as they stand there, history included, broken where the terminal breaks them. */
  rows(): Promise<readonly string[]>
  /** The bar in the last row, without its mark; `null` where there is none. */
  bar(): Promise<string | null>
  /** Whether anything on the screen has a colour or another style. */
  colours(): Promise<boolean>
  /** Types text as it is. */
  type(text: string): Promise<void>
  /** Presses keys by their tmux names: `Enter`, `C-c`, `C-d`, `Up`. */
  press(...keys: readonly string[]): Promise<void>
  /** Sends a signal to the program. */
  signal(name: 'INT' | 'TERM' | 'KILL'): Promise<void>
  /** Makes the window another size. */
  resize(columns: number, rows: number): Promise<void>
  /** Resolves with the screen once `text` is on it. */
  shows(text: string | RegExp): Promise<string>
  /** Resolves with the exit code once the program has ended and the record has it. */
  exitCode(): Promise<number>
}

/** How a terminal is opened. */
export interface TerminalOptions extends CliOptions {
  readonly columns: number
  /** Default 30. */
  readonly rows?: number
  /** A file that gets what the program writes to the terminal, as it comes. Default: none. */
  readonly record?: string
  /** Leaves the home as it is; otherwise {@link withoutTitles}. */
  readonly titles?: boolean
}

/** Starts the CLI in a terminal of `columns` by `rows`. */
export async function openTerminal(args: readonly string[], options: TerminalOptions): Promise<Terminal> {
  if (!options.titles) withoutTitles(options.home)
  const name = `hermes-test-${randomUUID()}`
  const env = Object.entries({ ...cliEnv(options), TERM: options.env?.['TERM'] ?? 'tmux-256color' })
  const words = ['env', '-i', ...env.map(([key, value]) => `${key}=${value}`), process.execPath, CLI, ...args]
  // What is recorded begins with the first byte.
  const begun = options.record ? `until [ -e ${quote(options.record)} ]; do sleep 0.02; done; ` : ''
  const command = `${begun}trap : INT; ${words.map(quote).join(' ')}; printf '\n[exit code %s]\n' $?; exec sleep 600`
  const size = ['-x', String(options.columns), '-y', String(options.rows ?? 30)]
  const begin = ['new-session', '-d', ...size, '-c', options.cwd, '/bin/sh', '-c', command]
  await run('tmux', ['-L', name, '-f', '/dev/null', ...begin])
  const tmux = (await openTmuxControl(name)).command
  if (options.record) await tmux('pipe-pane', '-O', `cat > ${quote(options.record)}`)
  const capture = async () => (await tmux('capture-pane', '-p', '-J', '-S', '-1000')).replace(/ +$/gm, '')
  const screen = async () => (await capture()).replace(/^(?:╰ .*|╭─+)\n?/gm, '').trimEnd()
  const shows = async (text: string | RegExp) => {
    const matcher = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
    await expect.poll(screen, { timeout: 15_000, interval: 30 }).toEqual(matcher)
    return screen()
  }
  return {
    screen,
    rows: async () => (await tmux('capture-pane', '-p', '-S', '-')).replace(/ +$/gm, '').trimEnd().split('\n'),
    bar: async () => /^╰ (.*)$/m.exec(await capture())?.[1] ?? null,
    shows,
    colours: async () => (await tmux('capture-pane', '-p', '-e')).includes('\u001B'),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    signal: async (name) => {
      await run('pkill', [`-${name}`, '-P', await tmux('display-message', '-p', '#{pane_pid}')])
    },
    resize: async (columns, rows) => void (await tmux('resize-window', '-x', String(columns), '-y', String(rows))),
    exitCode: async () => {
      const text = await shows(EXIT)
      // The program that records reads for itself, and may be behind the screen.
      if (options.record) await expect.poll(() => readFile(options.record!, 'utf8')).toMatch(EXIT)
      return Number(EXIT.exec(text)![1])
    },
    [Symbol.asyncDispose]: async () => void (await tmux('kill-server').catch(() => undefined)),
  }
}

const EXIT = /\[exit code (\d+)\]/

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
