import { closeSync, readlinkSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { processStartTime } from '../processes/process-tree.js'
import { findBubblewrap } from './find-bubblewrap.js'
import { probeIsolation } from './isolation-support.js'
import { NamespaceHolder } from './namespace-holder.js'
import { defaultLimits } from './namespace-limits.js'
import { createTurns, type InTurn } from './turns.js'

interface Setup {
  readonly before?: string
  readonly loopback?: boolean
  readonly inTurn?: InTurn
}

/** A holder whose bubblewrap leaves a line for each start, and first runs `before`. */
async function setup({ before = '', loopback = false, inTurn }: Setup) {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-holder-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [program, starts] = [join(folder, 'bwrap'), join(folder, 'starts')]
  await writeFile(program, `#!/bin/sh\n${before}\necho start >> ${starts}\nexec ${findBubblewrap()} "$@"\n`)
  await chmod(program, 0o755)
  const holder = new NamespaceHolder(program, { limits: defaultLimits(), loopback, inTurn })
  onTestFinished(() => holder.close(false))
  const open = async () => {
    const held = await holder.open()
    for (const descriptor of [held.user, held.pid]) closeSync(descriptor)
    return held
  }
  return { holder, open, starts: async () => (await readFile(starts, 'utf8')).split('\n').length - 1 }
}

const NETWORK = process.platform === 'linux' ? readlinkSync('/proc/self/ns/net') : ''

needs(await probeIsolation())('the namespaces of commands', () => {
  it('are made anew once, however many commands find that they have ended', async () => {
    const { open, starts } = await setup({})
    const { init } = await open()
    process.kill(init, 'SIGKILL')
    while (processStartTime(init) !== null) await systemClock.sleep(5)
    const inits = (await Promise.all([open(), open(), open()])).map((held) => held.init)
    expect([new Set(inits).size, await starts()]).toEqual([1, 2])
  })

  it.each([
    ['is refused', 'case "$*" in *--unshare-net*) echo "bwrap: loopback: Failed RTM_NEWADDR" >&2; exit 1;; esac'],
    ['cannot be entered', `[ "$(readlink /proc/self/ns/net)" = "${NETWORK}" ] || exit 1`],
  ])('are there without a loopback to share where that %s', async (_title, before) => {
    const { open } = await setup({ before, loopback: true })
    expect((await open()).loopback).toBeNull()
  })

  it('are not waited for by whoever closes before it is their turn, and are not made then', async () => {
    const { open, starts, holder } = await setup({ inTurn: createTurns(1, 60_000) })
    const first = await open()
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const busy = createTurns(1, 60_000)
    const other = busy(() => isOver)
    const queued = new NamespaceHolder('/nowhere/bwrap', { limits: defaultLimits(), inTurn: busy })
    const opening = queued.open()
    await queued.close(false)
    end()
    await other
    await expect(opening).rejects.toMatchObject({ code: 'environment.closed' })
    await holder.close(false)
    expect(processStartTime(first.init)).toBeNull()
    await expect(holder.open()).rejects.toMatchObject({ code: 'environment.closed' })
    expect(await starts()).toBe(1)
  })
})
