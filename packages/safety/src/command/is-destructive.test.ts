import { describe, expect, it } from 'vitest'
import { isDestructive } from './is-destructive.js'

describe('isDestructive', () => {
  it.each([
    'rm a',
    'rmdir a',
    'cp a b',
    'install a b',
    'mv a b',
    'sed -i s/a/b/ x',
    'sed --in-place s/a/b/ x',
    'truncate -s 0 x',
    'dd of=x',
    'shred x',
    'git reset --hard',
    'git -C x clean -f',
    'git checkout main',
    'echo a > x',
    'echo a >| x',
    'cmd &> x',
    'ls && (cd x; mv a b)',
    'find . -exec rm {} +',
    "bash -c 'echo a > b'",
    'sudo cp a b',
  ])('is true for %s', (command) => {
    expect(isDestructive(command)).toBe(true)
  })

  it.each([
    '',
    'ls',
    'echo "rm a > b"',
    'echo a >> x',
    'ls 2>&1',
    'ls >/dev/null 2>&1',
    'sed s/a/b/ x',
    'git status',
    '[[ a > b ]]',
    '(( a > b ))',
    'cat < x',
  ])('is false for %s', (command) => {
    expect(isDestructive(command)).toBe(false)
  })
})
