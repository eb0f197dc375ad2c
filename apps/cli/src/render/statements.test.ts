import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { statementsOf } from './statements.js'

it('puts each statement on a line of its own', () => {
  expect(statementsOf('cd app && npm test || exit 1; echo "a && b; c" | tee x;  rm -rf build')).toEqual([
    ...['cd app &&', 'npm test ||', 'exit 1;', 'echo "a && b; c" | tee x;', 'rm -rf build'],
  ])
  expect(statementsOf('rm -rf build')).toEqual(['rm -rf build'])
})

it('breaks nothing inside of quotes, brackets and comments, and leaves what it cannot tell apart', () => {
  const whole = [
    "node -e 'a; b'",
    'echo $(cd x && pwd)',
    'echo \\; x',
    '{ a; b; }',
    'echo a # b; c && d',
    'echo `a; b`',
  ]
  for (const command of whole) expect(statementsOf(command)).toEqual([command])
  for (const command of ["cat <<'E'\na; b\nE", 'echo "a; b', 'echo $(a; b'])
    expect(statementsOf(command)).toEqual(command.split('\n'))
})

it.each([
  'for x in a b; do echo "$x; y"; done && echo end',
  'case b in a) echo 1;; b) echo 2;; esac; echo "it\'s"; printf "%s\\n" \'a;b\' # c; d\necho \\\n last',
  'f() { echo in; echo f; }; f && (cd / && pwd; echo $((1 + 2))) || echo no; x="a b"',
])('means the same afterwards: %s', (command) => {
  const run = (text: string) => execFileSync('/bin/sh', ['-c', text], { encoding: 'utf8' })
  expect(statementsOf(command).length).toBeGreaterThan(1)
  expect(run(statementsOf(command).join('\n'))).toBe(run(command))
})
