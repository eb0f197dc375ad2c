import { expect, it } from 'vitest'
import { readBindings } from './bindings.js'

it('has a key of the person stand for the usual one, which does nothing any more', () => {
  const { stands, problems, name } = readBindings({ search: 'ctrl+o F2', stash: 'none', newline: 'ctrl+j' })
  expect([...stands]).toEqual(
    expect.arrayContaining([
      ['ctrl+o', 'ctrl+r'],
      ['f2', 'ctrl+r'],
      ['ctrl+r', ''],
      ['ctrl+s', ''],
      ['alt+enter', ''],
    ]),
  )
  expect([stands.has('ctrl+j'), problems]).toEqual([false, []])
  expect([name('search'), name('stash'), name('stop')]).toEqual(['Ctrl-O or F2', 'no key', 'Esc'])
})

it('swaps two keys without a word', () => {
  const { stands, problems } = readBindings({ search: 'ctrl+g', editor: 'ctrl+r' })
  expect([stands.get('ctrl+g'), stands.get('ctrl+r'), problems]).toEqual(['ctrl+r', 'ctrl+g', []])
})

it('names conflicts, and what is no key or no action', () => {
  const { stands, problems } = readBindings({
    ...{ search: 'ctrl+w ctrl+o', editor: 'ctrl+o', stop: 'ctrl+c q ctrl+hyper+x', serach: 'ctrl+t', submit: 'none' },
  })
  expect(problems).toEqual([
    'display.keys: stop: ctrl+c stays what it is.',
    'display.keys: stop: "q" is no key such as ctrl+o, alt+enter or f2.',
    'display.keys: stop: "ctrl+hyper+x" is no key such as ctrl+o, alt+enter or f2.',
    expect.stringMatching(/^display\.keys: there is no "serach"\. There are: submit, /),
    'display.keys: ctrl+o is given to search and to editor; it stays with search.',
    'display.keys: ctrl+w does search now and no longer kill-word-left.',
  ])
  expect([stands.get('ctrl+o'), stands.get('ctrl+w'), stands.get('enter'), stands.get('ctrl+c')]).toEqual([
    ...['ctrl+r', 'ctrl+r'],
    undefined,
    undefined,
  ])
})

it('takes one key after another, the second of which may be a letter, and says what the first does no longer', () => {
  const { stands, problems, name } = readBindings({
    editor: 'ctrl+x>ctrl+o ctrl+k>e',
    search: 'ctrl+c>s enter>s ctrl+o>f>g',
  })
  expect([stands.get('ctrl+x>ctrl+o'), stands.get('ctrl+k>e'), name('editor')]).toEqual([
    ...['ctrl+g', 'ctrl+g'],
    'Ctrl-X Ctrl-O or Ctrl-K E',
  ])
  expect(problems).toEqual([
    'display.keys: search: ctrl+c>s stays what it is.',
    'display.keys: search: enter>s stays what it is.',
    'display.keys: search: "ctrl+o>f>g" is no key such as ctrl+o, alt+enter or f2.',
    'display.keys: ctrl+k begins ctrl+k>e now and no longer does kill-to-end.',
    'display.keys: ctrl+x begins ctrl+x>ctrl+o now and no longer does editor-prefix.',
  ])
})

it('is as usual without a choice', () => {
  const { stands, problems } = readBindings({})
  expect(problems).toEqual([])
  expect([...stands]).toEqual([])
})
