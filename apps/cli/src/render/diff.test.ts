import { describe, expect, it } from 'vitest'
import { renderDiff } from './diff.js'
import { createStyle } from './style.js'

const style = {
  ...createStyle({ colors: false }),
  green: (text: string) => `G${text}`,
  red: (text: string) => `R${text}`,
}
const render = (diff: string, columns = 40) => renderDiff(diff, { style, columns }).split('\n')

describe('renderDiff', () => {
  it('colours added and removed lines and leaves out the name of a single file', () => {
    expect(render('--- a.js\n+++ a.js\n@@ -1,2 +1,2 @@\n same\n--- old\n+new 日本語日本語\n', 14)).toEqual([
      ...['  @@ -1,2 +1,…', '   same', 'R  --- old', 'G  +new 日本語…'],
    ])
  })

  it('names the files where there are several', () => {
    const file = (name: string) => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-x\n+y\n`
    expect(render(file('a.js') + file('b.js')).filter((line) => line.includes('.js'))).toEqual(['  a.js', '  b.js'])
  })

  it('says how much it leaves out', () => {
    const lines = render(`--- a\n+++ a\n${'+line\n'.repeat(100)}`)
    expect([lines.length, lines.at(-1)]).toEqual([41, '  … 60 more lines'])
  })
})
