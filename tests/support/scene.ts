import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach } from 'vitest'

/** What a test of the CLI happens in. */
export interface Scene {
  readonly server: ModelServer
  readonly home: string
  /** Where the CLI is started. */
  readonly cwd: string
  /** The folder around home and cwd. */
  readonly folder: string
}

/**
 * A scripted model, a home that does not exist yet and an empty folder to work in: new ones for each test of the file. It can be handed
 * to `runCli` as it is.
 */
export function useScene(): Scene {
  let server: ModelServer
  let temporary: TemporaryHome
  beforeEach(async () => {
    server = await startModelServer()
    temporary = await temporaryHome()
    await mkdir(join(temporary.path, 'work'), { recursive: true })
  })
  afterEach(async () => {
    await server.close()
    await temporary.remove()
  })
  return {
    get server() {
      return server
    },
    get home() {
      return join(temporary.path, 'user', '.hermes')
    },
    get cwd() {
      return join(temporary.path, 'work')
    },
    get folder() {
      return temporary.path
    },
  }
}
