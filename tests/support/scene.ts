import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

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
 * A scripted model, a home that does not exist yet and an empty folder to work in: new ones for each test of the file, or the same for
 * all of them. It can be handed to `runCli` as it is.
 */
export function useScene({ isShared = false }: { readonly isShared?: boolean } = {}): Scene {
  let server: ModelServer
  let temporary: TemporaryHome
  const [begin, end] = isShared ? [beforeAll, afterAll] : [beforeEach, afterEach]
  begin(async () => {
    server = await startModelServer()
    temporary = await temporaryHome()
    await mkdir(join(temporary.path, 'work'), { recursive: true })
  })
  end(async () => {
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
