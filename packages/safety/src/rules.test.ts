import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeGlob, matchGlob } from './glob.js'
import { parseRules } from './index.js'

describe('parseRules', () => {
  it('reads both forms and reports the rest, a line each', () => {
    const record = {
      'terminal.*': 'ask',
      'file.write': 'allow',
      'terminal(git push*)': 'ask',
      'write_file(src/**)': 'deny',
      'terminal(echo (a))': 'allow',
      '*': 'ask',
      'browser.*': 'deny',
      'mcp__git-hub__*(/etc/**)': 'ask',
      'terminal(echo (on x)) on gate* for ada': 'ask',
      'file.wirte': 'deny',
      'terminal(': 'allow',
      'file.read': 'sometimes',
      'constructor.x': 'allow',
    }
    const { rules, problems } = parseRules(record)
    expect(rules.map(({ pattern, effect }) => `${pattern}: ${effect}`)).toEqual([
      'terminal.*: ask',
      'file.write: allow',
      'terminal(git push*): ask',
      'write_file(src/**): deny',
      'terminal(echo (a)): allow',
      '*: ask',
      'browser.*: deny',
      'mcp__git-hub__*(/etc/**): ask',
      'terminal(echo (on x)) on gate* for ada: ask',
      'file.wirte: ask',
      'file.read: ask',
    ])
    expect(problems).toHaveLength(7)
    expect(problems.slice(0, 4)).toEqual([
      '"file.wirte" names no tool; file.write may be meant. Until it is fixed, everything file.write is about asks.',
      '"terminal(" is not a pattern; write a name such as terminal.* or terminal(git push*).',
      '"file.read" must be allow, ask or deny, not "sometimes". Until it is fixed, this asks.',
      expect.stringMatching(
        /^"constructor\.x" names nothing known; use a tool such as browser\.\* or one of \*, terminal, .*\.$/,
      ),
    ])
  })

  it.each([
    ['terminal(git push*', 'everything terminal is about'],
    ['Terminal(git push*)', 'everything terminal is about'],
    ['termnial(git push*)', 'everything terminal is about'],
    ['file.wirte(src/**)', 'everything file.write is about'],
    ['file.frobnicate', 'everything file is about'],
    ['browser_click(', 'everything browser_click does'],
    ['git push*', 'every action'],
    ['', 'every action'],
  ])('takes %j, which was to deny, for a question about %s', (pattern, what) => {
    const { rules, problems } = parseRules({ [pattern]: 'deny' }, { sourceOf: () => 'p.yaml:3:1' })
    expect(rules).toEqual([{ pattern, effect: 'ask', source: 'p.yaml:3:1', unread: true }])
    expect(problems).toEqual([expect.stringMatching(/^p\.yaml:3:1: /)])
    expect(problems[0]?.endsWith(`Until it is fixed, ${what} asks.`)).toBe(true)
  })

  it.each<[Record<string, string>, string[]]>([
    [{ 'terminal.*': 'ask', 'terminal(git push*)': 'deny' }, []],
    [{ 'terminal(git push*)': 'deny', 'terminal.*': 'allow' }, ['terminal(git push*)']],
    [{ 'terminal(git push*)': 'deny', 'terminal(git *)': 'allow' }, ['terminal(git push*)']],
    [{ 'terminal(git push*)': 'deny', 'terminal(git p?sh*)': 'allow' }, []],
    [{ 'terminal(git push*)': 'deny', 'terminal(git push*)\t': 'allow' }, ['terminal(git push*)']],
    [{ 'terminal(git push*)': 'deny', 'terminal.*': 'deny' }, []],
    [{ 'terminal(git push*)': 'deny', 'terminal.* on gateway': 'allow' }, []],
    [{ 'terminal(git push*) on gateway': 'deny', 'terminal.* on gate*': 'allow' }, ['terminal(git push*) on gateway']],
    [{ 'write_file(**/.env)': 'deny', 'file.write': 'allow' }, ['write_file(**/.env)']],
    [{ 'write_file(**/.env)': 'deny', 'file.write(*.env)': 'allow' }, []],
    [{ 'write_file(src/**/.env)': 'deny', 'file.write(src/**)': 'allow' }, ['write_file(src/**/.env)']],
    [{ 'write_file(/etc/x)': 'deny', 'file.write(**)': 'allow' }, []],
    [{ 'write_file(a/*/.env)': 'deny', 'file.write(a/*)': 'allow' }, []],
    [{ 'file.*': 'deny', 'file.write': 'allow' }, []],
    [{ 'file.remove': 'deny', 'file.write': 'allow' }, ['file.remove']],
    [{ 'browser.*': 'deny', '*': 'allow' }, ['browser.*']],
    [{ 'browser.*': 'deny', 'web.fetch': 'allow' }, []],
  ])('in %j says that %j never apply', (record, dead) => {
    const { problems } = parseRules(record, { sourceOf: (pattern) => `p.yaml:${pattern.length}:1` })
    expect(problems.map((line) => /^p\.yaml:\d+:1: "(.*): \w+" never applies/.exec(line)?.[1])).toEqual(dead)
  })

  it('says where both rules of a contradiction are', () => {
    const places: Record<string, string> = { 'file.write(x)': 'p.yaml:1:1', '*': 'p.yaml:7:1' }
    const { problems } = parseRules(
      { 'file.write(x)': 'deny', '*': 'allow' },
      { sourceOf: (pattern) => places[pattern] },
    )
    expect(problems).toEqual([
      'p.yaml:1:1: "file.write(x): deny" never applies: the later "*: allow" (p.yaml:7:1) covers all it is about. Move it below, or remove one.',
    ])
  })
})

describe('matchGlob', () => {
  it.each([
    ['a*c', 'abc', true],
    ['a*c', 'ac', true],
    ['a*c', 'abd', false],
    ['a?c', 'ac', false],
    ['*', '', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['git push*', 'git push', true],
    ['a.c', 'abc', false],
  ])('%s against %s is %s', (pattern, text, expected) => {
    expect(matchGlob(pattern, text)).toBe(expected)
  })

  it.each([
    ['src/*', 'src/a', true],
    ['src/*', 'src/a/b', false],
    ['src/**', 'src/a/b', true],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['a/?', 'a//', false],
  ])('as a path %s against %s is %s', (pattern, text, expected) => {
    expect(matchGlob(pattern, text, { path: true })).toBe(expected)
  })

  it('matches escaped text with itself only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(matchGlob(escapeGlob(text), other)).toBe(text === other)
        expect(matchGlob(escapeGlob(text), text)).toBe(true)
      }),
    )
  })

  it('stays fast on patterns made to backtrack', () => {
    expect(matchGlob('*a'.repeat(30), `${'a'.repeat(2000)}b`)).toBe(false)
  })
})
