import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toolName, toolNames } from './names.js'

it('names a tool after its server and itself', () => {
  expect(toolName('github', 'create_issue')).toBe('mcp__github__create_issue')
  expect(toolName('my server', 'files/read')).toBe('mcp__my_server__files_read')
})

it('gives every tool a name that models take, the same each time, whatever it is called', () => {
  const names = fc.array(fc.string({ unit: 'grapheme', maxLength: 100 }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), names, (server, tools) => {
      const named = toolNames(server, tools)
      expect([...named.values()].every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
      expect(new Set(named.values()).size).toBe(new Set(tools).size)
      expect(toolNames(server, [...tools].reverse())).toEqual(named)
    }),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 40) },
  )
})

it('tells tools apart that differ in signs only', () => {
  const named = toolNames('s', ['a b', 'a_b', 'a-b'])
  expect(new Set(named.values()).size).toBe(3)
  expect(named.get('a-b')).toBe('mcp__s__a-b')
})
