import { type NewEntry, userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryStore } from '../__fixtures__/temporary-store.js'
import { createStepClock } from '../testing/store-case.js'
import { toSearchExpression } from './search-query.js'

const say = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

async function storeWithTalk() {
  const clock = createStepClock()
  const store = await temporaryStore({ clock })
  const startMs = clock.now()
  await store.createSession({ id: 'a', source: 'cli', title: 'Containers' })
  await store.createSession({ id: 'b', source: 'acp' })
  const entries: Record<string, NewEntry[]> = {
    a: [
      say('The docker deployment fails in chat-send.'),
      {
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'c', name: 'terminal', args: null, rawArgs: '{"command":"kubectl get"}' }],
        },
      },
      {
        type: 'message',
        message: { role: 'tool', callId: 'c', toolName: 'terminal', content: [{ type: 'text', text: 'no pods' }] },
      },
    ],
    b: [say('Deploying with kubernetes, not docker.'), say('Python is fine, java is not.')],
  }
  for (const [id, list] of Object.entries(entries)) {
    const lease = await store.acquireLease(id, { owner: 'me' })
    for (const entry of list) {
      clock.step(1_000)
      await store.append(id, [entry], { lease })
    }
  }
  const find = async (query: string, options = {}) =>
    (await store.search(query, options)).map((hit) => (hit.atMs - startMs) / 1_000).sort()
  return { store, find, startMs }
}

describe('search', () => {
  it('finds words in texts, tool names and calls', async () => {
    const { find } = await storeWithTalk()
    expect(await find('docker')).toEqual([1, 4])
    expect(await find('DOCKER deployment')).toEqual([1])
    expect(await find('terminal')).toEqual([2, 3])
    expect(await find('kubectl')).toEqual([2])
    expect(await find('nothing')).toEqual([])
  })

  it('knows phrases, OR, NOT, prefixes and hyphenated words', async () => {
    const { find } = await storeWithTalk()
    expect(await find('"docker deployment"')).toEqual([1])
    expect(await find('"deployment docker"')).toEqual([])
    expect(await find('pods OR java')).toEqual([3, 5])
    expect(await find('docker NOT kubernetes')).toEqual([1])
    expect(await find('deploy*')).toEqual([1, 4])
    expect(await find('chat-send')).toEqual([1])
    expect(await find('send-chat')).toEqual([])
  })

  it('tells where a hit is and marks the match', async () => {
    const { store, startMs } = await storeWithTalk()
    const [hit] = await store.search('deployment')
    expect(hit).toEqual({
      sessionId: 'a',
      seq: (await store.entries('a'))[0]?.seq,
      role: 'user',
      atMs: startMs + 1_000,
      snippet: 'The docker >>>deployment<<< fails in chat-send.',
      title: 'Containers',
      source: 'cli',
    })
  })

  it('narrows by role, source, session and time, and stops at the limit', async () => {
    const { find, startMs } = await storeWithTalk()
    expect(await find('terminal', { role: 'tool' })).toEqual([3])
    expect(await find('docker', { source: 'acp' })).toEqual([4])
    expect(await find('docker', { sessionId: 'a' })).toEqual([1])
    expect(await find('docker', { afterMs: startMs + 1_000 })).toEqual([4])
    expect(await find('docker', { beforeMs: startMs + 4_000 })).toEqual([1])
    expect(await find('docker', { limit: 1 })).toHaveLength(1)
    expect(await find('docker', { limit: Number.NaN })).toEqual([])
  })

  it('takes whatever a person types', async () => {
    const { store } = await storeWithTalk()
    const piece = fc.constantFrom(
      '"',
      '*',
      '(',
      ')',
      'AND',
      'OR',
      'NOT',
      'NEAR(',
      ':',
      '^',
      '-',
      '+',
      ' ',
      'docker',
      '\0',
    )
    const query = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((pieces) => pieces.join('')),
    )
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        expect(Array.isArray(await store.search(text))).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(await store.search('docker '.repeat(20_000))).toEqual(expect.any(Array))
  })
})

describe('toSearchExpression', () => {
  it.each([
    ['docker deployment', '"docker" "deployment"'],
    ['"exact phrase" more', '"exact phrase" "more"'],
    ['unmatched "quote', '"unmatched" "quote"'],
    ['chat-send', '"chat-send"'],
    ['hello AND', '"hello"'],
    ['OR hello', '"hello"'],
    ['a AND OR b', '"a" OR "b"'],
    ['deploy*', '"deploy"*'],
    ['content:x ^y (z)', '"content:x" "^y" "(z)"'],
    ['and or not', '"and" "or" "not"'],
    ['!!! ??? *', null],
    ['', null],
  ])('turns %j into %j', (query, expression) => {
    expect(toSearchExpression(query)).toBe(expression)
  })
})
