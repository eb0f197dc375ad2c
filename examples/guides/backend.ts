import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import { createLocalEnvironment } from '@hermes/sandbox'

/** An empty folder of this machine that is removed with everything in it when the environment is closed. */
export async function openScratchEnvironment(options: { readonly path?: string } = {}): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), 'scratch-'))
  const [cwd, outputDir] = [join(folder, 'work'), join(folder, 'output')]
  const { path = '/usr/local/bin:/usr/bin:/bin' } = options
  await mkdir(cwd)
  // Nothing of this program's own environment reaches a command.
  const environment = createLocalEnvironment({ cwd, home: folder, outputDir, env: { PATH: path } })
  const close = environment.close.bind(environment)
  environment.close = async (options) => {
    await close(options)
    // A process that is to live on needs its folder.
    if (!options?.keepProcesses) await rm(folder, { recursive: true, force: true })
  }
  return environment
}
