import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DaytonaServer, startDaytonaServer } from '@hermes/testkit/clouds'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { testEnvironment } from '../testing/index.js'
import type { DaytonaOptions } from './daytona-options.js'
import { openDaytonaEnvironment } from './open-daytona.js'

describe('in a sandbox of Daytona', () => {
  let server: DaytonaServer
  beforeAll(async () => {
    server = await startDaytonaServer()
  })
  afterAll(() => server.close())

  async function options(more: Partial<DaytonaOptions> = {}): Promise<DaytonaOptions> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-daytona-test-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const { apiKey, apiUrl } = server
    return { apiKey, apiUrl, target: 'us', cwd: root, outputDir: `${root}-output`, ...more }
  }

  async function create(more: Partial<DaytonaOptions> = {}) {
    const asked = await options(more)
    const environment = await openDaytonaEnvironment(asked)
    return {
      environment,
      async dispose() {
        await environment.close()
        await rm(asked.outputDir, { recursive: true, force: true })
      },
    }
  }

  testEnvironment({ name: 'daytona', create: () => create() })

  cloudTests<DaytonaOptions>({
    server: () => server,
    options,
    open: openDaytonaEnvironment,
    wrong: { options: { apiKey: 'wrong-key-of-test' }, secret: 'wrong-key-of-test' },
    making: /^POST \/api\/sandbox$/,
    bringing: /bulk-download$/,
  })
})
