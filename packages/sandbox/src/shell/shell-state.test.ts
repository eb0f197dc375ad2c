import { expect, it } from 'vitest'
import { parseShellState } from './shell-state.js'

const saved = (exports: string, end = '.') => Buffer.from(`/some dir\n\0${exports}\0${end}`)

it('reads what bash prints', () => {
  const exports = [
    'declare -x PLAIN="a b"',
    'declare -x QUOTED="say \\"hi\\" for \\$5 \\`now\\` \\\\ done"',
    'declare -x LINES="one\ntwo"',
    "declare -x BYTES=$'caf\\303\\251\\n\\t\\E[0m\\u00e9 it\\'s'",
    'declare -rx FIXED="1"',
    'declare -x UNSET',
    'declare -ax LIST=([0]="a" [1]="b")',
    'declare -x EMPTY=""',
    '',
  ].join('\n')
  expect(parseShellState(saved(exports), {})).toEqual({
    cwd: '/some dir',
    env: {
      PLAIN: 'a b',
      QUOTED: 'say "hi" for $5 `now` \\ done',
      LINES: 'one\ntwo',
      BYTES: "café\n\t\x1b[0mé it's",
      FIXED: '1',
      EMPTY: '',
    },
  })
})

it('reads what dash prints', () => {
  const exports = `export PLAIN='a b'\nexport QUOTE='it'"'"'s'\nexport TWO='one\ntwo é'\nexport UNSET\n`
  expect(parseShellState(saved(exports), {})?.env).toEqual({ PLAIN: 'a b', QUOTE: "it's", TWO: 'one\ntwo é' })
})

it('takes the shell level and odd names from before, and leaves our own variables out', () => {
  const exports = 'declare -x SHLVL="7"\ndeclare -x __hermes_status="0"\ndeclare -x A="1"\n'
  const before = { SHLVL: '2', 'BASH_FUNC_f%%': '() { :; }', GONE: 'x' }
  expect(parseShellState(saved(exports), before)?.env).toEqual({ SHLVL: '2', 'BASH_FUNC_f%%': '() { :; }', A: '1' })
})

it('refuses a dump that is not complete', () => {
  expect(parseShellState(saved('declare -x A="1"\n', ''), {})).toBeNull()
  expect(parseShellState(Buffer.from('/dir\n'), {})).toBeNull()
  expect(parseShellState(Buffer.alloc(0), {})).toBeNull()
})
