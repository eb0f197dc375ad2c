import { expect, it } from 'vitest'
import { RepeatedText } from './repeated-text.js'

/** What a reader sees of answers that break off at `|`, in pieces of so many characters; `^` stands where another answer begins. */
function seen(answers: string, size: number): string {
  const repeated = new RepeatedText()
  let shown = ''
  const show = ({ text, isOther }: { readonly text: string; readonly isOther: boolean }) => {
    shown += isOther ? `^${text}` : text
  }
  for (const [index, answer] of answers.split('|').entries()) {
    if (index > 0) repeated.breakOff()
    for (let at = 0; at < answer.length; at += size) show(repeated.add(answer.slice(at, at + size)))
  }
  show(repeated.end())
  return shown
}

it.each([1, 2, 3, 100])('shows an answer once that breaks off again and again, in pieces of %i', (size) => {
  expect(seen('One two|One two three', size)).toBe('One two three')
  expect(seen('One two|One|One two three', size)).toBe('One two three')
  expect(seen('One|One two|One two three', size)).toBe('One two three')
  expect(seen('|One', size)).toBe('One')
  expect(seen('One two||One two', size)).toBe('One two')
})

it('shows another answer whole, and where it begins', () => {
  expect(seen('One two|Eins', 1)).toBe('One two^Eins')
  expect(seen('One two|One three', 4)).toBe('One two^One three')
  expect(seen('One two|One', 1)).toBe('One two^One')
  expect(seen('One two|', 1)).toBe('One two^')
})

it('begins anew with the next answer', () => {
  const repeated = new RepeatedText()
  repeated.add('One')
  repeated.end()
  expect(repeated.breakOff()).toBe(false)
  expect(repeated.add('One')).toEqual({ text: 'One', isOther: false })
})
