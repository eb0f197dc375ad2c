import { type DaytonaServer, startDaytonaServer } from '@hermes/testkit/clouds'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { sandboxName } from '../cloud/open-cloud.js'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import type { DaytonaOptions } from './open-daytona.js'
import { openDaytonaEnvironment } from './open-daytona.js'

needs(missingPrograms('setsid'))('in a sandbox of Daytona', () => {
  let server: DaytonaServer
  beforeAll(async () => {
    server = await startDaytonaServer()
  })
  afterAll(() => server.close())

  const folder = temporaryFolders('hermes-daytona-test-')

  async function options(more: Partial<DaytonaOptions> = {}): Promise<DaytonaOptions> {
    const root = await folder()
    const { apiKey, apiUrl } = server
    return { apiKey, apiUrl, target: 'us', cwd: root, outputDir: `${root}-output`, ...more }
  }

  let tasks = 0
  async function create(more: Partial<DaytonaOptions> = {}) {
    // A sandbox is that of its task: one of its own for each environment.
    const requested = await options({ task: `task-${++tasks}`, ...more })
    const environment = await openDaytonaEnvironment(requested)
    return {
      environment,
      dispose: () => environment.close(),
    }
  }

  testEnvironment({ name: 'daytona', create: () => create(), only: sampleFor('daytona', 14) })

  cloudTests<DaytonaOptions>({
    backend: 'daytona',
    server: () => server,
    options,
    open: openDaytonaEnvironment,
    wrong: { options: { apiKey: 'wrong-key-of-test' }, secret: 'wrong-key-of-test' },
    making: /^POST \/api\/sandbox$/,
    bringing: /bulk-download$/,
    keepsAtRest: true,
  })

  describe('a sandbox', () => {
    const facts = (task: string) => server.facts(sandboxName({ task, outputDir: '/' }))

    it('has the image, limits, labels and times asked for, with the disk that the service gives at most', async () => {
      const size = { cpus: 1.5, memoryMb: 5_120, diskMb: 51_200 }
      await harness(() => create({ task: 'limits', image: 'debian:12', idleSeconds: 150, persistent: false, ...size }))
      expect(facts('limits')).toMatchObject({
        labels: { 'hermes.managed': '1', 'hermes.task': 'limits', 'hermes.profile': 'default' },
        ...{ cpu: 2, memory: 5, disk: 10, autoStopInterval: 3, autoDeleteInterval: 0 },
        buildInfo: { dockerfileContent: expect.stringContaining('FROM debian:12') },
      })
    })

    it('is made from a snapshot when the name is one, with the limits of that', async () => {
      await harness(() => create({ task: 'snapshot', image: 'my-snapshot', cpus: 2 }))
      expect(facts('snapshot')).toMatchObject({ snapshot: 'my-snapshot' })
      expect(facts('snapshot')).not.toHaveProperty('cpu')
    })
  })
})
