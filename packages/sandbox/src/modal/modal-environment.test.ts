import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ModalServer, startModalServer } from '@hermes/testkit/clouds'
import { afterAll, beforeAll, describe, onTestFinished, vi } from 'vitest'
import { cloudTests } from '../cloud/__fixtures__/cloud-tests.js'
import { testEnvironment } from '../testing/index.js'
import type { ModalOptions } from './modal-options.js'
import { openModalEnvironment } from './open-modal.js'

describe('in a sandbox of Modal', () => {
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

  async function options(more: Partial<ModalOptions> = {}): Promise<ModalOptions> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-modal-test-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const { tokenId, tokenSecret } = server
    return { tokenId, tokenSecret, cwd: root, outputDir: `${root}-output`, ...more }
  }

  async function create(more: Partial<ModalOptions> = {}) {
    const asked = await options(more)
    const environment = await openModalEnvironment(asked)
    return {
      environment,
      async dispose() {
        await environment.close()
        await rm(asked.outputDir, { recursive: true, force: true })
      },
    }
  }

  testEnvironment({ name: 'modal', create: () => create() })

  cloudTests<ModalOptions>({
    server: () => server,
    options,
    open: openModalEnvironment,
    wrong: { options: { tokenSecret: 'wrong-secret-of-test' }, secret: 'wrong-secret-of-test' },
    making: /SandboxCreateV2$/,
  })
})
