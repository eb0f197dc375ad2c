import { describe, expect, it } from 'vitest'
import { changedPlaces } from './unified-diff.js'

const diff = (...lines: readonly string[]) => lines.join('\n')

describe('changedPlaces', () => {
  it('gives each hunk of each file with its place', () => {
    const text = diff(
      '--- /p/a.ts',
      '+++ /p/a.ts',
      '@@ -1,3 +1,3 @@',
      ' one',
      '-two',
      '+zwei',
      ' three',
      '@@ -10 +10,2 @@',
      ' ten',
      '+eleven',
      '--- /p/b.ts\told',
      '+++ /p/b.ts\tnew',
      '@@ -4,1 +4,0 @@ function f()',
      '-gone',
      'Matched loosely: check the diff.',
    )
    expect(changedPlaces(text)).toEqual([
      { path: '/p/a.ts', oldText: 'one\ntwo\nthree', newText: 'one\nzwei\nthree', line: 1 },
      { path: '/p/a.ts', oldText: 'ten', newText: 'ten\neleven', line: 10 },
      { path: '/p/b.ts', oldText: 'gone', newText: '', line: 4 },
    ])
  })

  it('takes changed lines that look like headers for what they are', () => {
    const text = diff('--- /p/a', '+++ /p/a', '@@ -1,2 +1,2 @@', '--- rule', '+++ rule', ' @@ -1 +1 @@')
    expect(changedPlaces(text)).toEqual([
      { path: '/p/a', oldText: '-- rule\n@@ -1 +1 @@', newText: '++ rule\n@@ -1 +1 @@', line: 1 },
    ])
  })

  it('knows new files and missing line ends', () => {
    const text = diff('--- /dev/null', '+++ /p/new', '@@ -0,0 +1,1 @@', '+first', '\\ No newline at end of file')
    expect(changedPlaces(text)).toEqual([{ path: '/p/new', oldText: null, newText: 'first', line: 1 }])
  })

  it('restores blank lines that were trimmed from the end', () => {
    const [place] = changedPlaces(diff('--- /p/a', '+++ /p/a', '@@ -1,3 +1,3 @@', '-x', '+y'))
    expect(place).toMatchObject({ oldText: 'x\n\n', newText: 'y\n\n' })
  })

  it.each([
    ['plain text', 'Nothing changed.'],
    ['a hunk that was cut off', diff('--- /p/a', '+++ /p/a', '@@ -1,3 +1,3 @@', ' one', '-tw')],
    ['a file without an absolute path', diff('--- a', '+++ a', '@@ -1 +1 @@', '-x', '+y')],
  ])('leaves %s out', (_, text) => {
    expect(changedPlaces(text)).toEqual([])
  })
})
