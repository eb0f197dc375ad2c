import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, withTerminalVariables } from '@hermes/config'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { testPermit } from '@hermes/sandbox/testing'
import { expect, onTestFinished } from 'vitest'
import { openEnvironment } from '../environment/open-environment.js'

export const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin'

/** What is asked for in a home whose config.yaml holds `terminal`. */
export async function requestFor(terminal: string, env: Readonly<Record<string, string>> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-backend-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const [home, userHome, cwd] = [join(root, 'user/.hermes'), join(root, 'user'), join(root, 'user/work')]
  for (const folder of [home, cwd]) await mkdir(folder, { recursive: true })
  await writeFile(join(home, 'config.yaml'), `terminal:\n${terminal}`)
  const loaded = await loadConfig({ home, env: {} })
  const { config, problems } = withTerminalVariables(loaded.config, env)
  expect([...loaded.problems, ...problems]).toEqual([])
  const request = {
    ...{ config, home, userHome, cwd, user: 'ada', tempDir: join(root, 'temp'), env: { PATH, HOME: userHome, ...env } },
    ...{ secrets: { MY_TOKEN: 'from-secrets' }, secretNames: ['MY_TOKEN'], logger: silentLogger, clock: systemClock },
  }
  return { request, root }
}

/** A home whose config.yaml holds `terminal`, opened. */
export async function open(terminal: string, env: Readonly<Record<string, string>> = {}) {
  const { request, root } = await requestFor(terminal, env)
  const environment = await openEnvironment(request)
  onTestFinished(() => environment.close())
  return { environment, root }
}

/** Runs a command there. */
export function run(environment: Environment, command: string) {
  const { backend } = environment
  return environment.exec(testPermit({ type: 'spawn', command, cwd: environment.cwd(), backend }), command)
}
