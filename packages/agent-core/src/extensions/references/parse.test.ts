import { describe, expect, it } from 'vitest'
import { hasReferences, parseReferences } from './parse.js'

const only = (text: string) => parseReferences(text)[0]

describe('parseReferences', () => {
  it.each([
    ['@file:a.ts', 'a.ts', null],
    ['see @file:src/a.ts.', 'src/a.ts', null],
    ['(@file:a.ts:10-20)', 'a.ts', { from: 10, to: 20 }],
    ['@file:a.ts:42', 'a.ts', { from: 42, to: 42 }],
    ['@file:a.ts:42:7,', 'a.ts', { from: 42, to: 42 }],
    ['@file:a.ts#L10-L20', 'a.ts', { from: 10, to: 20 }],
    ['@file:a.ts#L10', 'a.ts', { from: 10, to: 10 }],
    ['@file:a.ts:20-10', 'a.ts', null],
    ['@file:a.ts:0', 'a.ts', null],
    ['@file:"my notes.txt":2-3', 'my notes.txt', { from: 2, to: 3 }],
    ['@file:my\\ notes.txt', 'my notes.txt', null],
    ['@file:~/a.txt', '~/a.txt', null],
  ])('reads the file in %j', (text, path, lines) => {
    expect(only(text)).toMatchObject({ type: 'file', path, lines })
  })

  it.each([
    ['what changed? @diff', { type: 'diff' }],
    ['@staged, please', { type: 'staged' }],
    ['@git:3', { type: 'git', count: 3 }],
    ['@git:500', { type: 'git', count: 10 }],
    ['@git:123456789', { type: 'git', count: 10 }],
    ['What is in @folder:. ?', { type: 'folder', path: '.' }],
    ['@folder:src/', { type: 'folder', path: 'src/' }],
    ['@url:https://example.com/a?b=c.', { type: 'url', url: 'https://example.com/a?b=c' }],
    ['@session:20260101_1200', { type: 'session', name: '20260101_1200' }],
  ])('reads %j', (text, expected) => {
    expect(only(text)).toMatchObject(expected)
  })

  it.each([
    'me@file:x',
    '@git:x',
    '@git:0',
    '@different',
    '@file:',
    '@file:.',
    '@folder:..',
    'a@diff',
    '@types/node',
    'x.@file:a',
    'mail a@b.c',
  ])('finds none in %j', (text) => {
    expect(parseReferences(text)).toEqual([])
  })

  it('takes each once, and no more than twenty', () => {
    expect(parseReferences('@diff and @diff')).toHaveLength(1)
    expect(parseReferences(Array.from({ length: 30 }, (_, at) => `@file:${at}`).join(' '))).toHaveLength(20)
  })
})

it('hasReferences looks for the marks only', () => {
  expect(hasReferences('see @file:a.ts')).toBe(true)
  expect(hasReferences('@staged')).toBe(true)
  expect(hasReferences('@types/node and me@example.com @file: @different')).toBe(false)
})
