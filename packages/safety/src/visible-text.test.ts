import { expect, it } from 'vitest'
import { describeAction } from './describe-action.js'
import { visibleText } from './visible-text.js'

it('shows what a screen would obey or leave out, and leaves text of any language alone', () => {
  expect(visibleText('a\u001b[8m\u0007\r\u202e\u200b\u2028\u{e0041}')).toBe(
    'a\\x1b[8m\\x07\\x0d\\u202e\\u200b\\u2028\\u{e0041}',
  )
  for (const text of ['one\n\ttwo', 'naïve – “quoted” 日本語 עברית 🦊', '\\x1b']) expect(visibleText(text)).toBe(text)
})

it('hides no part of an action from whoever is asked', () => {
  const command = 'rm -rf dist \u001b];/tmp/evil.sh;#\u0007 \u202e# ok\nls'
  expect(describeAction({ type: 'spawn', command, cwd: '/', backend: 'local' })).toBe(
    'Run rm -rf dist \\x1b];/tmp/evil.sh;#\\x07 \\u202e# ok ⏎ ls',
  )
})
