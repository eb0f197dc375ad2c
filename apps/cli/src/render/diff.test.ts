import { describe, expect, it } from 'vitest'
import { paintDiff, renderDiff } from './diff.js'
import { createStyle } from './style.js'

const style = {
  ...createStyle({ colors: false }),
  green: (text: string) => `G${text}`,
  red: (text: string) => `R${text}`,
  inverse: (text: string) => `<${text}>`,
}
const render = (diff: string, columns = 40) => renderDiff(diff, { style, columns }).split('\n')

describe('renderDiff', () => {
  it('numbers each line as its file has it, and tells removed lines from names of files', () => {
    const diff =
      '--- a.js\n+++ a.js\n@@ -9,3 +9,3 @@\n same\n--- old\n+++ new\n end\n@@ -101 +101,2 @@\n last\n+one more\n'
    expect(render(diff)).toEqual([
      ...['    9   same', '   10 R- -- old', '   10 G+ ++ new', '   11   end', '    ⋮'],
      ...['  101   last', '  102 G+ one more'],
    ])
  })

  it('marks the words that changed, and none in lines that have nothing else in common', () => {
    const diff =
      '@@ -1,2 +1,2 @@\n-const total = price * 2\n-return a\n+const sum = price * count\n+throw new Error()\n'
    expect(render(diff)).toEqual([
      ...['  1 R- const <total> = price * <2>', '  2 R- return a'],
      ...['  1 G+ const <sum> = price * <count>', '  2 G+ throw new Error()'],
    ])
    const last = '\\ No newline at end of file\n'
    expect(render(`@@ -1 +1 @@\n-a b\n${last}+a c\n${last}`)).toEqual(['  1 R- a <b>', '  1 G+ a <c>'])
    expect(render('@@ -1 +1 @@\n-say one two now\n+say three four now\n')[0]).toBe('  1 R- say <one two> now')
  })

  it('breaks wide lines below their beginning, and has no numbers where there is no room', () => {
    expect(render('@@ -1 +1 @@\n-old 日本語日本語\n+new 日本語日本語 and more', 16)).toEqual([
      ...['  R- <old> 日本語日', '    R本語', '  G+ <new> 日本語日', '    G本語< and mor>', '    G<e>'],
    ])
    expect(render(`@@ -0,0 +1 @@\n+${'x'.repeat(200)}`, 14)).toEqual([
      `  G+ ${'x'.repeat(10)}`,
      `    G${'x'.repeat(10)}`,
      `    G${'x'.repeat(9)}…`,
    ])
  })

  it('shows what follows signs that are left out, and marks the end of what takes no room', () => {
    expect(render(`@@ -0,0 +1 @@\n+${'\x01'.repeat(486)}evil()`)).toEqual(['  1 G+ evil()'])
    expect(render(`@@ -0,0 +1 @@\n+start a${'\u0301'.repeat(900)} evil()`)[0]).toBe('  1 G+ start …')
  })

  it('gives a line around the change one row', () => {
    expect(render(`@@ -1,2 +1,2 @@\n-a\n+b\n ${'x'.repeat(100)}`)).toEqual([
      ...['  1 R- a', '  1 G+ b', `  2   ${'x'.repeat(33)}…`],
    ])
  })

  it('names the files where there are several', () => {
    const file = (name: string) => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-x\n+y\n`
    expect(render(file('a.js') + file('b.js')).filter((line) => line.includes('.js'))).toEqual(['  a.js', '  b.js'])
  })

  it('says how much it leaves out, and shows what is no diff as it is', () => {
    const lines = render(`--- a\n+++ a\n@@ -0,0 +1,100 @@\n${'+line\n'.repeat(100)}`)
    expect([lines.length, lines.at(-1)]).toEqual([41, '  … 60 more lines'])
    expect(render('Changed a; the diff is too long to show.', 80)).toEqual([
      '  Changed a; the diff is too long to show.',
    ])
  })
})

it('paints a patch without changing it', () => {
  const patch =
    'diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@ x\n same\n-old word\n+new word\n'
  expect(paintDiff(patch, createStyle({ colors: false }))).toBe(patch)
  expect(paintDiff(patch, style)).toContain('R-<old> word\nG+<new> word\n')
})
