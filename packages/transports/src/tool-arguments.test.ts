import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseToolArguments } from './index.js'

describe('parseToolArguments', () => {
  it('reads valid objects as they are and empty text as no arguments', async () => {
    expect(await parseToolArguments('{"a":[1,{"b":null}]}')).toEqual({ args: { a: [1, { b: null }] }, repaired: false })
    for (const text of ['', '  \n', '{}']) expect(await parseToolArguments(text)).toEqual({ args: {}, repaired: false })
  })

  it.each([
    ['a trailing comma', '{"a":1,}', { a: 1 }],
    ['single quotes', "{'a':'it'}", { a: 'it' }],
    ['a raw newline in a string', '{"a":"x\ny"}', { a: 'x\ny' }],
    ['a raw tab in a string', '{"a":"x\ty"}', { a: 'x\ty' }],
    ['one closing brace too many', '{"a":1}}', { a: 1 }],
    ['several closing brackets too many', '{"a":[1]}}]}', { a: [1] }],
    ['names without quotes', '{a: 1}', { a: 1 }],
    ['Python constants', '{"a": True, "b": None}', { a: true, b: null }],
    ['a code fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['a code fence around a slip', '```json\n{"a":1,}\n```', { a: 1 }],
  ])('repairs %s', async (_name, text, args) => {
    expect(await parseToolArguments(text)).toEqual({ args, repaired: true })
  })

  it('says of what is nested too deep that it is', async () => {
    const { args, problem } = await parseToolArguments(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    expect([args, problem]).toEqual([null, 'The arguments are nested more than 200 deep; make them flatter.'])
  })

  it('says where text was cut and gives no arguments', async () => {
    expect(await parseToolArguments('{"path":"a.txt","content":"half of')).toEqual({
      args: null,
      repaired: false,
      problem:
        'The arguments were cut off after 34 characters, inside the string that begins at character 26; ' +
        'they end with "{\\"path\\":\\"a.txt\\",\\"content\\":\\"half of".',
    })
    expect((await parseToolArguments('{"a":{"b":[1,2')).problem).toContain(
      'inside the array that begins at character 10',
    )
    expect((await parseToolArguments('{"a":1')).problem).toContain('inside the object that begins at character 0')
  })

  it('refuses what is not an object', async () => {
    expect((await parseToolArguments('[1]')).problem).toBe('The arguments must be a JSON object, not an array.')
    expect((await parseToolArguments('"a"')).args).toBeNull()
  })

  it.each(['', ' ', 'null', 'None'])('takes %j for no arguments', async (text) => {
    expect(await parseToolArguments(text)).toEqual({ args: {}, repaired: false })
  })

  it('never invents an end: every true prefix of an object gives no arguments', async () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
    await fc.assert(
      fc.asyncProperty(value, fc.nat(), async (object, at) => {
        const text = JSON.stringify(object)
        const cut = 1 + (at % (text.length - 1))
        expect((await parseToolArguments(text.slice(0, cut))).args).toBeNull()
        expect((await parseToolArguments(text)).args).toEqual(JSON.parse(text))
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
  })
})
