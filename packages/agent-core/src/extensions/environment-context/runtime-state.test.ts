import { systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { defineTool, seenFiles } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createAgent } from '../../index.js'
import { standardExtensions } from '../standard.js'
import { runtimeState } from './extension.js'

/** How often files are looked at while two messages are answered, a minute apart. */
async function looksOn(backend: string): Promise<number> {
  let [looks, nowMs] = [0, 0]
  const stat = async () => {
    looks++
    return null
  }
  const environment = { backend, cwd: () => '/work', processes: () => [], stat } as unknown as Environment
  const read = defineTool({
    name: 'read',
    toolset: 'test',
    description: 'read',
    effect: 'read',
    parameters: { type: 'object', properties: {} },
    execute: (_, { state }) => {
      seenFiles(state).set('/work/a.txt', '1')
      return 'text'
    },
  })
  const model = scriptedModel([{ calls: [['a', 'read', {}]] }, { text: 'Read.' }, { text: 'Well.' }])
  const clock = { ...systemClock, now: () => nowMs }
  const agent = createAgent({
    model,
    tools: [read],
    environment,
    clock,
    extensions: [...standardExtensions(), runtimeState({ git: false })],
  })
  expect(await agent.run('Read it.').result).toMatchObject({ status: 'completed' })
  nowMs = 60_000
  expect(await agent.run('Thank you.').result).toMatchObject({ status: 'completed' })
  return looks
}

it('looks at files with a message on this machine alone: a remote host would keep the person waiting', async () => {
  expect([await looksOn('local'), await looksOn('ssh')]).toEqual([1, 0])
})
