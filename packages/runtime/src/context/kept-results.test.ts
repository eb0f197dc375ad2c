import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { keepResultsIn } from './kept-results.js'

const here = { backend: 'local' } as Environment

it('keeps results for a day, readable by their owner alone and without secrets', async () => {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const directory = join(home.path, 'cache', 'results')
  await mkdir(directory, { recursive: true })
  const [old, fresh] = [join(directory, 'old.txt'), join(directory, 'fresh.txt')]
  await Promise.all([writeFile(old, 'x'), writeFile(fresh, 'x')])
  const yesterdaySeconds = (systemClock.now() - 90_000_000) / 1000
  await utimes(old, yesterdaySeconds, yesterdaySeconds)
  const redact = () => (text: string) => text.replaceAll('s3cret', '[REDACTED]')
  const keep = keepResultsIn({ directoryOf: () => directory, redact, clock: systemClock })
  const path = await keep({ sessionId: '20261121_1', callId: '../../call/1', text: 'a s3cret\nb', environment: here })
  expect(await readFile(path, 'utf8')).toBe('a [REDACTED]\nb')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readdir(directory)).sort()).toEqual(['20261121_1-______call_1.txt', 'fresh.txt'])
})

it('clears away again in a program that runs for weeks, and makes its folder anew where somebody removed it', async () => {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const directory = join(home.path, 'cache', 'results')
  let nowMs = systemClock.now()
  const keep = keepResultsIn({
    directoryOf: () => directory,
    redact: () => String,
    clock: { ...systemClock, now: () => nowMs },
  })
  await keep({ sessionId: 's', callId: 'first', text: 'x', environment: here })
  nowMs += 90_000_000
  await keep({ sessionId: 's', callId: 'second', text: 'x', environment: here })
  expect(await readdir(directory)).toEqual(['s-second.txt'])
  await rm(directory, { recursive: true })
  await keep({ sessionId: 's', callId: 'third', text: 'x', environment: here })
  expect(await readdir(directory)).toEqual(['s-third.txt'])
})

it('has an environment that is elsewhere keep them, without secrets', async () => {
  const redact = () => (text: string) => text.replaceAll('s3cret', '[REDACTED]')
  const keep = keepResultsIn({ directoryOf: () => '/nowhere', redact, clock: systemClock })
  const remote = { backend: 'ssh', keepText: async (text: string) => `/there/${text}` } as Environment
  expect(await keep({ sessionId: 's', callId: 'c', text: 'a s3cret', environment: remote })).toBe('/there/a [REDACTED]')
})
