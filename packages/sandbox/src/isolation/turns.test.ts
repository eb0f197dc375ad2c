import { needs } from '@hermes/testkit/daemons'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalEnvironment } from '../local/local-environment.js'
import { testPermit } from '../testing/index.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import { createIsolationSupport, probeIsolation } from './isolation-support.js'
import { createTurns } from './turns.js'

/** Work that ends when it is let go, and what has begun and ended so far. */
function watched() {
  const [log, open]: [string[], Map<string, () => void>] = [[], new Map()]
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await new Promise<void>((resolve) => open.set(name, resolve))
    log.push(`${name} ends`)
    if (name === 'bad') throw new Error('bad')
    return name
  }
  return { log, work, end: (name: string) => open.get(name)!() }
}

describe('turns', () => {
  it('let as many run as they were made for, and the others in their order', async () => {
    const { log, work, end } = watched()
    const inTurn = createTurns(2)
    const all = ['a', 'bad', 'c', 'd'].map((name) => inTurn(work(name)).catch(() => 'failed'))
    expect(log).toEqual(['a begins', 'bad begins'])
    end('bad')
    await all[1]
    expect(log.slice(2)).toEqual(['bad ends', 'c begins'])
    for (const name of ['a', 'c']) end(name)
    await all[2]
    expect(log.at(-1)).toBe('d begins')
    end('d')
    expect(await Promise.all(all)).toEqual(['a', 'failed', 'c', 'd'])
    const last = inTurn(work('e'))
    end('e')
    expect(await last).toBe('e')
  })

  it('are over after a while although the work hangs, once each', async () => {
    const { log, work, end } = watched()
    const inTurn = createTurns(1, 1)
    const hung = inTurn(work('hung'))
    expect(await inTurn(async () => 'next')).toBe('next')
    end('hung')
    expect(await hung).toBe('hung')
    const both = ['a', 'b'].map((name) => inTurn(work(name)))
    expect(log.slice(2)).toEqual(['a begins'])
    end('a')
    await both[0]
    end('b')
    expect(await Promise.all(both)).toEqual(['a', 'b'])
  })
})

needs(await probeIsolation())('the first commands of sessions that begin together', () => {
  const temporaryFolder = temporaryFolders('hermes-turns-')

  it('have their namespaces made in turn, and the later ones need none', async () => {
    const cwd = await temporaryFolder()
    let [now, most, count] = [0, 0, 0]
    // They are never over by themselves, however slow the machine is.
    const turns = createTurns(2, 2 ** 31 - 1)
    const inTurn: typeof turns = (work) =>
      turns(async () => {
        most = Math.max(most, ++now)
        count++
        return work().finally(() => now--)
      })
    const isolation = { support: { ...createIsolationSupport(), inTurn } }
    const common = { cwd, home: `${cwd}/home`, env: { PATH: '/usr/bin:/bin' }, isolation }
    const environments = Array.from({ length: 5 }, (_, at) =>
      createLocalEnvironment({ ...common, outputDir: `${cwd}/out-${at}` }),
    )
    onTestFinished(async () => void (await Promise.all(environments.map((one) => one.close()))))
    const run = async (environment: (typeof environments)[number]) =>
      (await environment.exec(testPermit({ type: 'spawn', command: 'echo a', cwd, backend: 'local' }), 'echo a')).output
    expect(await Promise.all(environments.map(run))).toEqual(Array.from({ length: 5 }, () => 'a\n'))
    expect([most, count]).toEqual([2, 5])
    await run(environments[0]!)
    expect(count).toBe(5)
  })
})
