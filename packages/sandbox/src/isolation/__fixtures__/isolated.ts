import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalEnvironment } from '../../local/local-environment.js'
import { scriptPty } from '../../testing/script-pty.js'
import type { IsolationOptions } from '../isolation-options.js'

const PATH = '/usr/local/bin:/usr/bin:/bin'

/** A home with credentials, a Hermes home and a workspace; everything outside the workspace and the temporary folder is off limits. */
export async function isolated(isolation: IsolationOptions = {}, cwd?: string, home?: string) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-isolated-')))
  const at = (...parts: string[]) => join(root, ...parts)
  for (const folder of ['home/work', 'home/.ssh', 'home/.hermes/sandbox', 'temp'])
    await mkdir(at(folder), { recursive: true })
  await writeFile(at('home/.ssh/id_ed25519'), 'the private key')
  await writeFile(at('home/.netrc'), 'the password')
  await writeFile(at('home/.hermes/.env'), 'the api key')
  await writeFile(at('home/notes.txt'), 'may be read')
  const environment = createLocalEnvironment({
    cwd: cwd ?? at('home/work'),
    home: home ?? at('home'),
    outputDir: at('home/.hermes/sandbox'),
    env: { PATH, HOME: home ?? at('home'), TMPDIR: at('temp') },
    temp: [at('temp')],
    loadPty: async () => scriptPty,
    isolation: { hidden: [at('home/.hermes')], ...isolation },
  })
  return {
    environment,
    at,
    async dispose() {
      await environment.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
