import { expect, it } from 'vitest'
import { isNestedTooDeep } from './json.js'

it.each(['[', '{', '{"a": ', '? ', '- ', 'a: [\n'])(
  'a text that opens %j a thousand times is nested too deep',
  (opening) => {
    expect(isNestedTooDeep(opening.repeat(1_000))).toBe(true)
  },
)

it.each(['[]', '{a: 1}\n', 'a: [1, {b: 2}]\n', '- a\n', 'a:\n  - b\n', 'a - b - c ', ']', '}'])(
  'a text that repeats %j is not',
  (part) => {
    expect(isNestedTooDeep(part.repeat(10_000))).toBe(false)
  },
)
