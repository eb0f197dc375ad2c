import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'
import { openStorage } from '../../index.js'
import { hasEnded, processIdentity } from '../../shared/process-identity.js'
import { createStepClock } from '../../testing/store-case.js'

async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await once(child, 'close')
  return child.pid!
}

const otherPid = (pid: number) => processIdentity().replace(/^\d+/, String(pid))

describe('a lease', () => {
  it('of a process that has ended is free at once', async () => {
    const path = temporaryPath()
    const clock = createStepClock()
    const dead = await openStorage({ path, clock, owner: otherPid(await endedProcess()) })
    await dead.sessions.create({ id: 's', source: 'cli' })
    await dead.leases.acquire('s', { owner: 'dead' })
    const store = await temporaryStore({ path, clock })
    expect(await store.leases.acquire('s', { owner: 'me' })).toMatchObject({ token: 2 })
    await dead.close()
  })

  it('of another machine lasts as long as it says', async () => {
    const path = temporaryPath()
    const clock = createStepClock()
    const remote = await openStorage({ path, clock, owner: `${await endedProcess()}@elsewhere#1.x` })
    await remote.sessions.create({ id: 's', source: 'cli' })
    await remote.leases.acquire('s', { owner: 'far', ttlMs: 1_000 })
    const store = await temporaryStore({ path, clock })
    await expect(store.leases.acquire('s', { owner: 'me' })).rejects.toMatchObject({
      code: 'store.session_busy',
      retryable: true,
      details: { owner: expect.stringMatching(/^far \(process \d+@elsewhere\)$/), sinceRenewedMs: 0 },
    })
    clock.step(1_000)
    await store.leases.acquire('s', { owner: 'me' })
    await remote.close()
    await expect(store.leases.acquire('s', { owner: 'third' })).rejects.toMatchObject({ code: 'store.session_busy' })
  })

  it('does not outlive its time because a clock was set back', async () => {
    const clock = createStepClock()
    const store = await temporaryStore({ clock })
    await store.sessions.create({ id: 's', source: 'cli' })
    await store.leases.acquire('s', { owner: 'first', ttlMs: 1_000 })
    clock.step(-3_600_000)
    await store.leases.acquire('s', { owner: 'second', ttlMs: 1_000 })
  })

  it('names the other process that has a session open: at once, after its release, and until it ended the session or is gone', async () => {
    const path = temporaryPath()
    // Of one process with another start, so that it counts as another one that runs.
    const other = await openStorage({ path, owner: processIdentity() })
    const store = await temporaryStore({ path })
    await other.sessions.create({ id: 's', source: 'cli' })
    expect([await store.leases.otherUser('s'), await store.leases.otherUser('unknown')]).toEqual([null, null])
    const lease = await other.leases.acquire('s', { owner: 'gateway' })
    const name = expect.stringMatching(new RegExp(`^gateway \\(process ${process.pid}@`))
    expect([await store.leases.otherUser('s'), await other.leases.otherUser('s')]).toEqual([name, null])
    await lease.release()
    expect(await store.leases.otherUser('s')).toEqual(name)
    await other.sessions.update('s', { endedAtMs: 1, endReason: 'left' })
    expect(await store.leases.otherUser('s')).toBeNull()
    await other.close()
    const gone = await openStorage({ path, owner: otherPid(await endedProcess()) })
    await gone.leases.acquire('s', { owner: 'cli' })
    expect(await store.leases.otherUser('s')).toBeNull()
    await gone.close()
  })

  it('is given up when its store is closed', async () => {
    const path = temporaryPath()
    const first = await openStorage({ path })
    await first.sessions.create({ id: 's', source: 'cli' })
    await first.leases.acquire('s', { owner: 'first' })
    const second = await temporaryStore({ path })
    await expect(second.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({ code: 'store.session_busy' })
    await first.close()
    await second.leases.acquire('s', { owner: 'second' })
  })
})

describe('hasEnded', () => {
  it('tells this process and its parent from one that is gone', async () => {
    expect(hasEnded(processIdentity())).toBe(false)
    expect(hasEnded(otherPid(await endedProcess()))).toBe(true)
  })

  it('says no where it cannot know', async () => {
    const pid = await endedProcess()
    expect(hasEnded(`${pid}@elsewhere#1.x`)).toBe(false)
    expect(hasEnded('a name of one’s own')).toBe(false)
    expect(hasEnded(processIdentity().replace(/#.*$/, '#.x'))).toBe(false)
  })
})
