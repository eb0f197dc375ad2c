// How many programs it takes to run one command held to its workspace.
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { createLocalEnvironment } from '../local/local-environment.js'
import { testPermit } from '../testing/index.js'
import { createIsolationSupport, probeIsolation } from './isolation-support.js'

/** The last words of what this process starts, each with what bubblewrap would start itself left out. */
function watchStarts() {
  const starts: string[] = []
  const listener = (message: unknown) => {
    const { process: child } = message as { readonly process: ChildProcess }
    queueMicrotask(() => starts.push(child.spawnargs.join(' ').includes('--block-fd') ? 'namespaces' : nameOf(child)))
  }
  subscribe('child_process', listener)
  onTestFinished(() => void unsubscribe('child_process', listener))
  return starts
}

function nameOf({ spawnargs }: ChildProcess): string {
  const inside = spawnargs.slice(spawnargs.indexOf('--') + 1)
  return spawnargs.includes('--') ? inside.slice(0, 3).join(' ') : (spawnargs[0] ?? '')
}

needs(await probeIsolation())('an isolated command', () => {
  it('takes four program starts besides its own, the first of a session included, and later sessions share the login', async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-starts-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const [home, cwd, outputDir] = [join(root, 'home'), join(root, 'home/work'), join(root, 'out')]
    await mkdir(cwd, { recursive: true })
    await mkdir(outputDir)
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home }
    const shared = new Map()
    const remembered = join(outputDir, 'isolation')
    const open = () => {
      const isolation = { support: createIsolationSupport({ remembered }) }
      const environment = createLocalEnvironment({ cwd, home, outputDir, env, isolation, login: { shared } })
      const run = (command: string) =>
        environment.exec(testPermit({ type: 'spawn', command, cwd, backend: 'local' }), command)
      return { run, close: () => environment.close() }
    }
    const early = open()
    await early.run('true')
    await early.close()
    expect((await readFile(remembered, 'utf8')).split('\n')[0]).toMatch(/bwrap$/)
    shared.clear()

    const starts = watchStarts()
    const first = open()
    onTestFinished(first.close)
    expect(await first.run('echo here')).toMatchObject({ output: 'here\n', exitCode: 0 })
    // Besides its own: bubblewrap for each of the three, and the shell that reads the start-up files.
    expect(starts).toEqual(['namespaces', '/bin/bash -l -i', '/bin/bash --norc --noprofile'])

    const second = open()
    onTestFinished(second.close)
    starts.length = 0
    await second.run('true')
    expect(starts).toEqual(['namespaces', '/bin/bash --norc --noprofile'])
    starts.length = 0
    await second.run('true')
    expect(starts).toEqual(['/bin/bash --norc --noprofile'])
  })

  it('leaves no process that ended and stays, whatever it left behind', async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-starts-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const environment = createLocalEnvironment({
      ...{ cwd: root, home: join(root, 'home'), outputDir: join(root, 'out') },
      ...{ env: { PATH: '/usr/bin:/bin' }, isolation: {} },
    })
    onTestFinished(() => environment.close())
    const run = (command: string) =>
      environment.exec(testPermit({ type: 'spawn', command, cwd: root, backend: 'local' }), command)
    const { output } = await run('(sleep 100 & echo $!); true')
    // Its parent is gone, so that only the first process of the namespace can see to its end.
    const gone = `kill -9 ${output.trim()}; while kill -0 ${output.trim()} 2> /dev/null; do :; done; echo gone`
    expect(await run(gone)).toMatchObject({ output: 'gone\n', timedOut: false })
  })
})
