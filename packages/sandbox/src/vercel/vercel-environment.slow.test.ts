import { systemClock } from '@hermes/contracts'
import { startVercelServer, type VercelServer } from '@hermes/testkit/clouds'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { sandboxName } from '../cloud/open-cloud.js'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import type { VercelOptions } from './open-vercel.js'
import { openVercelEnvironment } from './open-vercel.js'

needs(missingPrograms('setsid'))('in a sandbox of Vercel', () => {
  let server: VercelServer
  beforeAll(async () => {
    server = await startVercelServer()
  })
  afterAll(() => server.close())

  const folder = temporaryFolders('hermes-vercel-test-')

  async function options(more: Partial<VercelOptions> = {}): Promise<VercelOptions> {
    const root = await folder()
    const { token, teamId, projectId, fetch } = server
    return { token, teamId, projectId, fetch, cwd: root, outputDir: `${root}-output`, ...more }
  }

  let tasks = 0
  async function create(more: Partial<VercelOptions> = {}) {
    // A sandbox is that of its task: one of its own for each environment.
    const requested = await options({ task: `task-${++tasks}`, ...more })
    const environment = await openVercelEnvironment(requested)
    return {
      environment,
      dispose: () => environment.close(),
    }
  }

  testEnvironment({ name: 'vercel', create: () => create(), only: sampleFor('vercel', 14) })

  cloudTests<VercelOptions>({
    backend: 'vercel_sandbox',
    server: () => server,
    options,
    open: openVercelEnvironment,
    wrong: { options: { token: 'wrong-token-of-test' }, secret: 'wrong-token-of-test' },
    making: /^POST .*\/v[23]\/sandboxes$/,
    bringing: /fs\/read$/,
    keepsAtRest: true,
  })

  describe('a sandbox', () => {
    const facts = (task: string) => server.facts(sandboxName({ task, outputDir: '/' }))

    it('has the runtime, limits, labels and times asked for', async () => {
      const requested = {
        task: 'limits',
        runtime: 'node22',
        cpus: 4,
        memoryMb: 5_120,
        idleSeconds: 120,
        persistent: false,
      }
      await harness(() => create(requested))
      expect(facts('limits')).toMatchObject({
        tags: { 'hermes.managed': '1', 'hermes.task': 'limits', 'hermes.profile': 'default' },
        ...{ runtime: 'node22', vcpus: 2, timeout: 120_000, persistent: false },
      })
    })

    it('goes on for another idle time while it is in use', async () => {
      let ahead = 0
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      const { run } = await harness(() => create({ task: 'use', clock }))
      const ends = facts('use')!.expiresAt
      ahead = 200_000
      await run('true')
      expect(facts('use')!.expiresAt).toBeGreaterThan(ends + 100_000)
    })

    it('has neither another runtime nor another disk than there are', async () => {
      const code = 'environment.invalid_option'
      await expect(openVercelEnvironment(await options({ runtime: 'node8' }))).rejects.toMatchObject({ code })
      await expect(openVercelEnvironment(await options({ diskMb: 1_000 }))).rejects.toMatchObject({ code })
    })
  })
})
