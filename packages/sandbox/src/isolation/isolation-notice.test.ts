import { silentLogger } from '@hermes/contracts'
import type { ActionEvent } from '@hermes/contracts/extension'
import type { Action } from '@hermes/contracts/policy'
import { handlersOf } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type IsolationNoticeOptions, isolationNotice } from './isolation-notice.js'

const spawn: Action = { type: 'spawn', command: 'ls', cwd: '/', backend: 'local' }
const read: Action = { type: 'read', path: '/x', backend: 'local' }

function open(terminal: IsolationNoticeOptions['terminal'], why: string | null) {
  const notified: string[] = []
  const isolationSupport = { why: () => why, failed: () => undefined }
  const handlers = handlersOf([isolationNotice({ terminal, isolationSupport, logger: silentLogger })])
  const act = async (action: Action) => {
    const event = { action, environment: null, notice: (text: string) => void notified.push(text) } as unknown
    for (const handler of handlers('before-action')) await handler(event as ActionEvent)
  }
  const watching = () => handlers('before-action').length
  return { act, notified, watching }
}

it('says once that commands are not isolated, before the first one that runs', async () => {
  const { act, notified, watching } = open(
    { backend: 'local', isolation: 'auto' },
    'bubblewrap (bwrap) is not installed',
  )
  await act(read)
  expect(notified).toEqual([])
  await act(spawn)
  await act(spawn)
  expect(notified).toEqual([
    'Commands are not held to the workspace: bubblewrap (bwrap) is not installed. Programs can then read what Hermes was started with, so keys belong in `hermes auth add`, not into variables. To say that this is meant: terminal.isolation: off.',
  ])
  expect(watching()).toBe(0)
})

it('says nothing where they are isolated, where that is turned off or required, and of other machines', async () => {
  for (const [backend, isolation, why] of [
    ['local', 'auto', null],
    ['local', 'off', 'missing'],
    ['local', 'on', 'missing'],
    ['docker', 'auto', 'missing'],
  ] as const) {
    const { act, notified } = open({ backend, isolation }, why)
    await act(spawn)
    expect(notified, `${backend} ${isolation}`).toEqual([])
  }
})
