import { HermesError } from '@hermes/contracts'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { WebCall } from '@hermes/contracts/web'
import { expect, it } from 'vitest'
import { createAnswers } from './answers.js'

const action: Action = { type: 'fetch', url: 'https://a.example/', method: 'GET' }
const make = async ({ permit }: WebCall) => {
  await permit(action)
  return 'page'
}
const callOf = (permit: () => Promise<Permit>, signal = new AbortController().signal): WebCall => ({ signal, permit })
const allows = async () => ({}) as Permit
const answers = () => createAnswers<string>({ keptMs: 0, exemptHosts: [], clock: { now: () => 0 } })

it.each([
  ['is denied', new HermesError('No.', { code: 'policy.denied' })],
  ['waits for an answer', new Error('parked')],
])('what %s to who asked first is asked anew for who joined', async (_, reason) => {
  const { get } = answers()
  const first = get(
    'a',
    callOf(() => Promise.reject(reason)),
    make,
  )
  const second = get('a', callOf(allows), make)
  await expect(first).rejects.toBe(reason)
  expect(await second).toBe('page')
})

it('a failure of the page is one for all who wait for it', async () => {
  const { get } = answers()
  let times = 0
  const fails = async () => {
    times++
    throw new HermesError('It answers 500.', { code: 'web.failed' })
  }
  const all = await Promise.allSettled([get('a', callOf(allows), fails), get('a', callOf(allows), fails)])
  expect([all.map(({ status }) => status), times]).toEqual([['rejected', 'rejected'], 1])
})

it('who comes when the others have just left begins anew', async () => {
  const { get } = answers()
  const leaving = new AbortController()
  const slow = ({ signal }: WebCall) =>
    new Promise<string>((_, reject) => signal.addEventListener('abort', () => setImmediate(reject, signal.reason)))
  const first = get('a', callOf(allows, leaving.signal), slow)
  leaving.abort()
  await expect(first).rejects.toThrow('aborted')
  expect(await get('a', callOf(allows), make)).toBe('page')
})
