import { describe, expect, it } from 'vitest'
import { checkWirePairs } from '../index.js'

const call = (id: string, text = '{}') => ({ id, function: { name: 't', arguments: text } })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })

describe('checkWirePairs', () => {
  it('accepts calls that are each answered once', () => {
    expect(
      checkWirePairs([
        { role: 'user', content: 'go' },
        { role: 'assistant', tool_calls: [call('a'), call('b')] },
        result('a'),
        result('b'),
        { role: 'assistant', content: 'done' },
      ]),
    ).toEqual([])
  })

  it('names each call and result that has no partner', () => {
    expect(
      checkWirePairs([
        result('x'),
        { role: 'assistant', tool_calls: [call('a'), call('a'), call('b', '{"cut')] },
        result('a'),
        result('a'),
      ]),
    ).toEqual([
      'messages[0]: tool result for unknown call "x"',
      'messages[1]: two tool calls share the id a',
      'messages[1]: the arguments of tool call b are not a JSON object',
      'messages[3]: second result for tool call a',
      'messages[4]: tool call b has no result before this message',
    ])
  })
})
