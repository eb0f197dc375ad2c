import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { gatewayStates, stateFile } from './gateway-state.js'

it('takes no other program for a gateway that ended without a word', async () => {
  const { path, remove } = await temporaryHome()
  onTestFinished(remove)
  const state = {
    startedAtMs: 0,
    address: 'http://127.0.0.1:1/v1',
    model: 'm',
    isSafe: false,
    isSupervised: false,
    isInTerminal: false,
    flags: [],
    platforms: [],
    updatedAtMs: 1_000,
  }
  // This process runs, as one does that has got the number of a gateway.
  const file = stateFile(path, process.pid)
  await file.write(state)
  expect(await gatewayStates(path, 60_000)).toMatchObject([{ pid: process.pid }])
  expect(await gatewayStates(path, 600_000)).toEqual([])
  expect(await gatewayStates(path, 60_000)).toEqual([])
})
