// A program in a terminal of its own, as a person sees it: for pictures.
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

const WAIT_MS = 30_000
const LOOK_MS = 50
/** A screen that has not changed for so long has come to rest. */
const SETTLED_MS = 500
const LONGEST_WAIT_MS = 4_000

/** Whether this machine has tmux. */
export const hasTmux = () => spawnSync('tmux', ['-V']).status === 0

let opened = 0

/**
 * Starts `command` with nothing but `env`.
 * @param {{ command: readonly string[], cwd: string, env: Record<string, string>, columns: number, rows: number }} options
 */
export function openScreen({ command, cwd, env, columns, rows }) {
  const server = `hermes-picture-${process.pid}-${opened++}`
  const tmux = (...words) => execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...words], { encoding: 'utf8' })
  const variables = { ...env, LANG: 'C.UTF-8', TERM: 'tmux-256color', COLORTERM: 'truecolor' }
  const words = ['env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...command]
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', cwd, words.map(quote).join(' '))
  const text = () => tmux('capture-pane', '-p')
  return {
    type: (keys) => void tmux('send-keys', '-l', '--', keys),
    /** Keys by their tmux names: `Enter`, `C-c`. */
    press: (...keys) => void tmux('send-keys', ...keys),
    /** Resolves once `pattern` is on the screen. @throws Error with the screen when that takes too long */
    waitFor: async (pattern) => {
      for (const end = Date.now() + WAIT_MS; Date.now() < end; await delay(LOOK_MS)) if (pattern.test(text())) return
      throw new Error(`the terminal never showed ${pattern}:\n${text()}`)
    },
    /** Resolves once the screen has come to rest; one that never does is taken as it is. */
    settles: async () => {
      const end = Date.now() + LONGEST_WAIT_MS
      for (let before = null; Date.now() < end; await delay(SETTLED_MS)) {
        const now = text()
        if (now === before) return
        before = now
      }
    },
    /** Its rows, with their colours as escape sequences, without empty ones at the end. */
    rows: () => tmux('capture-pane', '-p', '-e').trimEnd().split('\n'),
    close: () => void spawnSync('tmux', ['-L', server, 'kill-server']),
  }
}

function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`
}
