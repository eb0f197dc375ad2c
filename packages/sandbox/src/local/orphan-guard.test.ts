import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { OrphanGuard, SharedWatcher } from './orphan-guard.js'

const PATH = '/usr/local/bin:/usr/bin:/bin'
/** Says that it is there, and ends with 7 when it is told so. */
const WAITS = `trap 'exit 7' USR1; echo up; while :; do sleep 0.01; done`

const started: ChildProcess[] = []
afterEach(() => {
  for (const { pid, exitCode, signalCode } of started.splice(0))
    if (exitCode === null && signalCode === null) process.kill(-pid!, 'SIGKILL')
})

async function startGroup(mark: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', WAITS], {
    detached: true,
    env: { PATH, ...mark },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  await once(child.stdout, 'data')
  return child
}

/** Closes the guard and waits until it has ended what it guards. */
async function close(guard: OrphanGuard): Promise<void> {
  const last = await startGroup()
  guard.channel()!.write(`+ ${last.pid}\n`)
  guard.close()
  await once(last, 'exit')
}

describe('OrphanGuard', () => {
  it('ends the groups that it was not told to let go, and no others', async () => {
    const guard = new OrphanGuard()
    const [kept, early, left] = [await startGroup(), await startGroup(), await startGroup()]
    guard.channel()!.write(`+ ${kept.pid}\n+ ${left.pid}\n`)
    // A command that is stopped at once is let go before it has told of itself.
    guard.remove(early.pid!)
    guard.channel()!.write(`+ ${early.pid}\n`)
    guard.remove(kept.pid!)
    const ends = [kept, early, left].map((child) => once(child, 'exit'))
    await close(guard)
    for (const { pid } of [kept, early]) process.kill(pid!, 'SIGUSR1')
    expect(await Promise.all(ends)).toEqual([
      [7, null],
      [7, null],
      [null, 'SIGTERM'],
    ])
  })
  it('ends what one of those that share a watcher leaves, and what the others had when the agent dies', async () => {
    const shared = new SharedWatcher()
    const [closed, open] = [new OrphanGuard(shared), new OrphanGuard(shared)]
    const [kept, early, left, later] = [await startGroup(), await startGroup(), await startGroup(), await startGroup()]
    expect(open.channel()).toBe(closed.channel())
    for (const { pid } of [kept, early, left]) closed.begun(pid!)
    open.begun(later.pid!)
    open.channel()!.write(`+ ${kept.pid}\n+ ${left.pid}\n+ ${later.pid}\n`)
    closed.remove(kept.pid!)
    const ends = [kept, early, left, later].map((child) => once(child, 'exit'))
    closed.close()
    expect(await Promise.all([ends[1], ends[2]])).toEqual([
      [null, 'SIGTERM'],
      [null, 'SIGTERM'],
    ])
    expect([kept, later].map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null])
    open.channel()!.destroy()
    expect(await ends[3]).toEqual([null, 'SIGTERM'])
    process.kill(kept.pid!, 'SIGUSR1')
    expect(await ends[0]).toEqual([7, null])
    const next = open.channel()
    expect(next?.destroyed).toBe(false)
    open.close()
    expect(next?.writableEnded).toBe(true)
  })
  it('ends what has its mark when the agent dies before it could tell of it, and nothing of another guard', async () => {
    const [guard, other] = [new OrphanGuard(), new OrphanGuard()]
    const [marked, alien] = [await startGroup(guard.mark), await startGroup(other.mark)]
    const ends = [marked, alien].map((child) => once(child, 'exit'))
    guard.channel()!.destroy()
    expect(await ends[0]).toEqual([null, 'SIGTERM'])
    process.kill(alien.pid!, 'SIGUSR1')
    expect(await ends[1]).toEqual([7, null])
    other.close()
  })
})
