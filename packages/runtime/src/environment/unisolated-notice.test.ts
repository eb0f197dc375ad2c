import { silentLogger } from '@hermes/contracts'
import type { ActionEvent } from '@hermes/contracts/extension'
import type { Action } from '@hermes/contracts/policy'
import { expect, it } from 'vitest'
import { handlersOf } from '../__fixtures__/handlers-of.js'
import { UnisolatedNotice, type UnisolatedNoticeOptions } from './unisolated-notice.js'

const spawn: Action = { type: 'spawn', command: 'ls', cwd: '/', backend: 'local' }
const read: Action = { type: 'read', path: '/x', backend: 'local' }

function open(terminal: UnisolatedNoticeOptions['terminal'], why: string | null) {
  const notified: string[] = []
  const isolationSupport = { why: () => why, failed: () => undefined }
  const notice = new UnisolatedNotice({ terminal, isolationSupport, logger: silentLogger })
  const agents = [0, 1].map(() => handlersOf([notice.forAgent('/')]))
  const act = async (action: Action, agent = 0) => {
    const event = { action, notice: (text: string) => void notified.push(text) } as ActionEvent
    for (const handler of agents[agent]!('before-action')) await handler(event)
  }
  const watching = () => agents.map((handlers) => handlers('before-action').length)
  return { act, notified, watching }
}

it('says once that commands are not isolated, before the first of any agent', async () => {
  const { act, notified, watching } = open(
    { backend: 'local', isolation: 'auto' },
    'bubblewrap (bwrap) is not installed',
  )
  await act(read)
  expect(notified).toEqual([])
  await act(spawn)
  await act(spawn)
  await act(spawn, 1)
  expect(notified).toEqual([
    'Commands are not held to the workspace: bubblewrap (bwrap) is not installed. Programs can then read what Hermes was started with, so keys belong in `hermes auth add`, not into variables. To say that this is meant: terminal.isolation: off.',
  ])
  expect(watching()).toEqual([0, 0])
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
