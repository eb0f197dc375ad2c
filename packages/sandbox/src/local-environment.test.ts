import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalEnvironment } from './local-environment.js'
import { testEnvironment } from './testing/index.js'

const PATH = '/usr/local/bin:/usr/bin:/bin'

for (const shell of ['/bin/bash', '/bin/sh']) {
  testEnvironment({
    name: `local (${shell})`,
    async create() {
      const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sandbox-')))
      const [cwd, home, outputDir] = [join(root, 'work'), join(root, 'home'), join(root, 'output')]
      for (const directory of [cwd, home]) await mkdir(directory)
      const environment = createLocalEnvironment({ cwd, home, outputDir, shell, env: { PATH, HOME: home } })
      return {
        environment,
        async dispose() {
          await environment.close()
          await rm(root, { recursive: true, force: true })
        },
      }
    },
  })
}
