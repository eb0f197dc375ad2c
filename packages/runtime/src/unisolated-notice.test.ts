import type { AgentHooks } from '@hermes/agent-core'
import { silentLogger } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { expect, it } from 'vitest'
import { UnisolatedNotice, type UnisolatedNoticeOptions } from './unisolated-notice.js'

const spawn: Action = { type: 'spawn', command: 'ls', cwd: '/', backend: 'local' }
const read: Action = { type: 'read', path: '/x', backend: 'local' }

function open(terminal: UnisolatedNoticeOptions['terminal'], why: string | null) {
  const told: string[] = []
  const passed: Action[] = []
  const isolationSupport = { why: () => why, failed: () => undefined }
  const notice = new UnisolatedNotice({ terminal, isolationSupport, logger: silentLogger })
  const own: AgentHooks = { beforeAction: (action) => void passed.push(action) }
  const hooks = [notice.before(own, '/'), notice.before(own, '/')]
  const act = async (action: Action, agent = 0) => {
    const about = { sessionId: 's', runId: 'r', callId: 'c', turnSeq: 0, signal: new AbortController().signal }
    await hooks[agent]!.beforeAction?.(action, { ...about, notice: (text) => void told.push(text) })
  }
  return { act, told, passed }
}

it('says once that commands are not isolated, before the first of any agent', async () => {
  const { act, told, passed } = open({ backend: 'local', isolation: 'auto' }, 'bubblewrap (bwrap) is not installed')
  await act(read)
  expect(told).toEqual([])
  await act(spawn)
  await act(spawn)
  await act(spawn, 1)
  expect(told).toEqual([
    'Commands are not held to the workspace: bubblewrap (bwrap) is not installed. Programs can then read what Hermes was started with, so keys belong in `hermes auth add`, not into variables. To say that this is meant: terminal.isolation: off.',
  ])
  expect(passed).toEqual([read, spawn, spawn, spawn])
})

it('says nothing where they are isolated, where that is turned off or required, and of other machines', async () => {
  for (const [backend, isolation, why] of [
    ['local', 'auto', null],
    ['local', 'off', 'missing'],
    ['local', 'on', 'missing'],
    ['docker', 'auto', 'missing'],
  ] as const) {
    const { act, told, passed } = open({ backend, isolation }, why)
    await act(spawn)
    expect([told, passed], `${backend} ${isolation}`).toEqual([[], [spawn]])
  }
})
