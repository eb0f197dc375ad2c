import { noUsage } from '@hermes/contracts/conversation'
import type { CallScope } from '@hermes/contracts/model'
import { askModel } from '@hermes/models'
import { expect, it } from 'vitest'
import { TurnScopes } from './turn-scopes.js'

it('calls of a child say for which session and turn they are made, as long as that one is there', async () => {
  const seen: CallScope[] = []
  const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
  const client = {
    provider: 'p',
    model: 'm',
    limits: () => [],
    nextEndpoint: () => ({ provider: 'p', model: 'm' }),
    async *stream(_request: unknown, scope: CallScope) {
      seen.push(scope)
      yield { type: 'finish', message: { role: 'assistant', content: [] }, usage: noUsage, stamp } as const
    },
  }
  const scopes = new TurnScopes()
  const root = scopes.scoped(client, { sessionId: 's', rootSessionId: null })
  const child = scopes.scoped(client, { sessionId: 'c', rootSessionId: 's' })
  const request = { messages: [], tools: [] }
  await askModel(root, request, { purpose: 'turn', sessionId: 's', turnId: 'a' })
  await askModel(child, request, { purpose: 'turn', sessionId: 'c', turnId: 'x' })
  await askModel(scopes.forTools(client), request, { purpose: 'moa', sessionId: 's' })
  await askModel(scopes.forTools(client), request, { purpose: 'moa', sessionId: 'c' })
  expect(scopes.scopeOf('s', false)).toEqual({ sessionId: 's' })
  scopes.forget('s')
  await askModel(child, request, { purpose: 'turn', sessionId: 'c', turnId: 'x' })
  expect(seen).toEqual([
    { purpose: 'turn', sessionId: 's', turnId: 'a' },
    { purpose: 'turn', sessionId: 'c', turnId: 'x', root: { sessionId: 's', turnId: 'a' } },
    { purpose: 'moa', sessionId: 's', turnId: 'a' },
    { purpose: 'moa', sessionId: 'c', root: { sessionId: 's', turnId: 'a' } },
    { purpose: 'turn', sessionId: 'c', turnId: 'x', root: { sessionId: 's' } },
  ])
})
