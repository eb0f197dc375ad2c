import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { type ModalServer, startModalServer } from '@hermes/testkit/clouds'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { sandboxName } from '../cloud/open-cloud.js'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import type { ModalOptions } from './open-modal.js'
import { openModalEnvironment } from './open-modal.js'

needs(missingPrograms('setsid'))('in a sandbox of Modal', () => {
  let server: ModalServer
  beforeAll(async () => {
    server = await startModalServer()
    // The package takes the address of the service from there alone.
    vi.stubEnv('MODAL_SERVER_URL', server.url)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await server.close()
  })

  const folder = temporaryFolders('hermes-modal-test-')

  async function options(more: Partial<ModalOptions> = {}): Promise<ModalOptions> {
    const root = await folder()
    const { tokenId, tokenSecret } = server
    return { tokenId, tokenSecret, cwd: root, outputDir: `${root}-output`, ...more }
  }

  let tasks = 0
  async function create(more: Partial<ModalOptions> = {}) {
    // A sandbox is that of its task: one of its own for each environment.
    const requested = await options({ task: `task-${++tasks}`, ...more })
    const environment = await openModalEnvironment(requested)
    return {
      environment,
      dispose: () => environment.close(),
    }
  }

  testEnvironment({ name: 'modal', create: () => create(), only: sampleFor('modal', 14) })

  cloudTests<ModalOptions>({
    backend: 'modal',
    server: () => server,
    options,
    open: openModalEnvironment,
    wrong: { options: { tokenSecret: 'wrong-secret-of-test' }, secret: 'wrong-secret-of-test' },
    making: /SandboxCreateV2$/,
    keepsAtRest: false,
  })

  describe('a sandbox', () => {
    it('has the limits, labels and times asked for', async () => {
      const requested = { task: 'limits', cpus: 2, memoryMb: 4_096, idleSeconds: 120, persistent: false }
      await harness(() => create(requested))
      expect(server.facts(sandboxName({ ...requested, outputDir: '/' }))).toMatchObject({
        tags: { 'hermes.managed': '1', 'hermes.task': 'limits', 'hermes.profile': 'default' },
        timeoutSecs: 86_400,
        idleTimeoutSecs: 720,
        resources: { milliCpu: 2_000, memoryMb: 1_024, memoryMbMax: 4_096 },
      })
    })

    it('is made from the snapshot of the one before, of which one is kept', async () => {
      const requested = await options({ task: 'kept' })
      const name = sandboxName({ task: 'kept', outputDir: '/' })
      const file = join(requested.outputDir, 'modal-snapshots.json')
      const known = async () => (JSON.parse(await readFile(file, 'utf8')) as Record<string, string>)[name]!
      for (const round of [1, 2]) {
        const { run, environment } = await harness(() => create(requested))
        expect((await run('cat ~/rounds 2>/dev/null; echo again >> ~/rounds')).output).toBe('again\n'.repeat(round - 1))
        await environment.close()
        expect(server.sandboxes()).not.toContain(name)
        expect(server.snapshots()).toContain(await known())
      }
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      const last = await known()
      server.forgetSnapshots()
      const { run } = await harness(() => create(requested))
      expect((await run('cat ~/rounds')).exitCode).toBe(1)
      expect(server.snapshots()).not.toContain(last)
    })

    it('is put away at the end, also after a rest that this program slept through', async () => {
      let ahead = 0
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      const requested = await options({ task: 'slept', clock })
      const first = await harness(() => create(requested))
      await first.run('echo here > ~/note')
      ahead = 400_000
      await first.environment.close()
      const second = await harness(() => create(requested))
      expect((await second.run('cat ~/note')).output).toBe('here\n')
    })

    it('is put away after a rest, before the service forgets its files, and taken out again', async () => {
      const { run, environment } = await harness(() => create({ task: 'rest', idleSeconds: 0.05 }))
      await run('echo here > ~/note')
      while (server.sandboxes().includes(sandboxName({ task: 'rest', outputDir: '/' })))
        await new Promise((resolve) => setTimeout(resolve, 20))
      expect((await run('cat ~/note')).output).toBe('here\n')
      await environment.close()
    })
  })
})
