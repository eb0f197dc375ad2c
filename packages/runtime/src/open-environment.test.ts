import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@hermes/config'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { testPermit } from '@hermes/sandbox/testing'
import {
  type DockerEngine,
  dockerMissing,
  missingPrograms,
  needs,
  type SshServer,
  startDockerEngine,
  startSshServer,
} from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openEnvironment } from './open-environment.js'

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin'

/** A home whose config.yaml holds `terminal`, opened. */
async function open(terminal: string, env: Readonly<Record<string, string>> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-backend-')))
  const [home, userHome, cwd] = [join(root, 'user/.hermes'), join(root, 'user'), join(root, 'user/work')]
  for (const folder of [home, cwd]) await mkdir(folder, { recursive: true })
  await writeFile(join(home, 'config.yaml'), `terminal:\n${terminal}`)
  const { config, problems } = await loadConfig({ home, env: {} })
  expect(problems).toEqual([])
  const environment = await openEnvironment({
    ...{ config, home, userHome, cwd, user: 'ada', tempDir: join(root, 'temp'), env: { PATH, HOME: userHome, ...env } },
    ...{ secrets: { MY_TOKEN: 'from-secrets' }, secretNames: ['MY_TOKEN'], logger: silentLogger, clock: systemClock },
  }).catch(async (error: unknown) => {
    await rm(root, { recursive: true, force: true })
    throw error
  })
  onTestFinished(async () => {
    await environment.close()
    await rm(root, { recursive: true, force: true })
  })
  return { environment, root }
}

function run(environment: Environment, command: string) {
  const { backend } = environment
  return environment.exec(testPermit({ type: 'spawn', command, cwd: environment.cwd(), backend }), command)
}

it('is this machine, not isolated, when config.yaml says nothing else', async () => {
  const { environment } = await open('  timeout: 5\n')
  expect(environment).toMatchObject({ backend: 'local', capabilities: { isolated: false } })
})

it('says which backends there are, and which setting is missing', async () => {
  await expect(open('  backend: cloud9\n')).rejects.toMatchObject({
    code: 'runtime.unknown_backend',
    message: 'terminal.backend is "cloud9" in config.yaml; it can be local, ssh, docker, singularity.',
  })
  await expect(open('  backend: ssh\n')).rejects.toMatchObject({ code: 'runtime.backend_config' })
})

needs(await probeIsolation())('with isolation', () => {
  it('holds commands to the workspace and hides the home, but for what config.yaml names', async () => {
    const { environment, root } = await open(
      '  isolation: on\n  isolation_write: [~/.bashrc]\n  isolation_network: false\n',
    )
    expect(environment.capabilities.isolated).toBe(true)
    const { output } = await run(
      environment,
      `cat ${root}/user/.hermes/config.yaml; test -w /usr || echo read-only; echo x > ok && ls; grep -c : /proc/net/dev`,
    )
    expect(output).toMatch(/^cat: .*(No such file or directory|Permission denied)\nread-only\nok\n1\n$/)
  })
})

needs(missingPrograms('sshd', 'ssh', 'ssh-keygen'))('over ssh', () => {
  let server: SshServer
  beforeAll(async () => {
    server = await startSshServer()
  })
  afterAll(() => server.stop())

  it('opens the host of config.yaml, or of the variables that stand in for it', async () => {
    const { port, identityFile } = server
    const settings = `  backend: ssh\n  ssh_key: ${identityFile}\n  cwd: /tmp\n  env_passthrough: [MY_TOKEN]\n`
    const known = `  ssh_host: 127.0.0.1\n  ssh_port: ${port}\n`
    await expect(open(settings + known)).rejects.toMatchObject({ code: 'environment.host_key_unknown' })
    const variables = { TERMINAL_SSH_HOST: '127.0.0.1', TERMINAL_SSH_PORT: String(port) }
    await expect(open(settings, variables)).rejects.toMatchObject({ code: 'environment.host_key_unknown' })
  })
})

needs(dockerMissing())('in a container', () => {
  let engine: DockerEngine
  beforeAll(async () => {
    engine = await startDockerEngine()
  })
  afterAll(() => engine.stop())

  it('keeps workspace and home, passes on the variables it is asked to, and mounts volumes', async () => {
    const settings = `  backend: docker
  docker_image: ${engine.image}
  docker_network: false
  docker_shm_size: 64m
  container_memory: 256
  docker_env: { FIXED: 3 }
  docker_forward_env: [MY_TOKEN, MISSING]
  docker_volumes: ['~/work:/work:ro']
`
    const { environment, root } = await open(settings, { DOCKER_HOST: engine.env['DOCKER_HOST']! })
    const { output } = await run(environment, 'echo $MY_TOKEN $FIXED; pwd; echo kept > note; touch /work/x')
    expect(output).toMatch(/^from-secrets 3\n\/workspace\n.*Read-only file system\n$/)
    const other = join(root, 'user/.hermes/sandboxes/docker/default/workspace/note')
    expect(await readFile(other, 'utf8')).toBe('kept\n')
  })
})
