import { expect, it } from 'vitest'
import { wordForms } from './word-forms.js'

it.each([
  ['painting', ['paint', 'paints', 'painted']],
  ['painted', ['paint', 'painting']],
  ['baked', ['bake', 'baking']],
  ['running', ['run', 'runs']],
  ['planned', ['plan', 'planning']],
  ['studies', ['study', 'studied', 'studying']],
  ['study', ['studies', 'studied']],
  ['boxes', ['box', 'boxing']],
  ['visit', ['visits', 'visited', 'visiting']],
  ['harbours', ['harbour']],
])('looks for %s as other forms of it too', (word, others) => {
  const forms = wordForms(word)
  expect(forms[0]).toBe(word)
  expect(forms).toEqual(expect.arrayContaining(others))
  expect(forms.length).toBeLessThan(16)
})

it.each(['bus', 'as', 'élan', 'k8s2', 'this', '部署', 'sing'])(
  'leaves %s as it is, but for what may follow it',
  (word) => {
    expect(wordForms(word).every((form) => form.startsWith(word))).toBe(true)
  },
)
