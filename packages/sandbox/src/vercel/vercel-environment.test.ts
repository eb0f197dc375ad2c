import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startVercelServer, type VercelServer } from '@hermes/testkit/clouds'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { testEnvironment } from '../testing/index.js'
import { openVercelEnvironment } from './open-vercel.js'
import type { VercelOptions } from './vercel-options.js'

describe('in a sandbox of Vercel', () => {
  let server: VercelServer
  beforeAll(async () => {
    server = await startVercelServer()
  })
  afterAll(() => server.close())

  async function options(more: Partial<VercelOptions> = {}): Promise<VercelOptions> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-vercel-test-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const { token, teamId, projectId, fetch } = server
    return { token, teamId, projectId, fetch, cwd: root, outputDir: `${root}-output`, ...more }
  }

  async function create(more: Partial<VercelOptions> = {}) {
    const asked = await options(more)
    const environment = await openVercelEnvironment(asked)
    return {
      environment,
      async dispose() {
        await environment.close()
        await rm(asked.outputDir, { recursive: true, force: true })
      },
    }
  }

  testEnvironment({ name: 'vercel', create: () => create() })

  cloudTests<VercelOptions>({
    server: () => server,
    options,
    open: openVercelEnvironment,
    wrong: { options: { token: 'wrong-token-of-test' }, secret: 'wrong-token-of-test' },
    making: /^POST .*\/v[23]\/sandboxes$/,
    bringing: /fs\/read$/,
  })
})
