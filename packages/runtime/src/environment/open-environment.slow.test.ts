import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDaytonaServer, startModalServer, startVercelServer } from '@hermes/testkit/clouds'
import {
  type DockerEngine,
  dockerMissing,
  missingPrograms,
  needs,
  type SshServer,
  startDockerEngine,
  startSshServer,
} from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { open, requestFor, run } from '../__fixtures__/opened-environment.js'
import { openEnvironment } from './open-environment.js'
import { terminalBackends } from './terminal-backends.js'

needs(missingPrograms('sshd', 'ssh', 'ssh-keygen'))('over ssh', () => {
  let server: SshServer
  beforeAll(async () => {
    server = await startSshServer()
  })
  afterAll(() => server.stop())

  it('opens the host of config.yaml, or of the variables that go before it', async () => {
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

  it('shares a container that is not kept among the agents of one session alone', async () => {
    const settings = `  backend: docker
  docker_image: ${engine.image}
  docker_network: false
  docker_shm_size: 64m
  container_memory: 256
  container_persistent: false
`
    const { request } = await requestFor(settings, { DOCKER_HOST: engine.env['DOCKER_HOST']! })
    const openFor = async (task: string) => {
      const environment = await openEnvironment({ ...request, task })
      onTestFinished(() => environment.close())
      return environment
    }
    const [parent, child, stranger] = [await openFor('one'), await openFor('one'), await openFor('two')]
    await run(parent, 'echo here > /tmp/note')
    expect((await run(child, 'cat /tmp/note')).output).toBe('here\n')
    expect((await run(stranger, 'cat /tmp/note')).exitCode).toBe(1)
  })
})

needs(missingPrograms('setsid'))('in a cloud', () => {
  /** Runs a command in `backend`, and tells what is known of it without and with the network. */
  async function tryOut(backend: string, env: Readonly<Record<string, string>>) {
    const settings = `  backend: ${backend}\n  cwd: /tmp\n  env_passthrough: [MY_TOKEN]\n`
    const { environment } = await open(settings, env)
    const { output } = await run(environment, 'echo $MY_TOKEN; pwd')
    const { request } = await requestFor(settings, env)
    const status = async (isOffline: boolean) =>
      (await terminalBackends(request, { isOffline })).find((one) => one.backend === backend)
    return { output, offline: await status(true), online: await status(false) }
  }

  const worked = (backend: string) => ({
    output: 'from-secrets\n/tmp\n',
    offline: { backend, isChosen: true, isReady: true, text: 'credentials are set; not asked' },
    online: { backend, isChosen: true, isReady: true, text: 'the service takes the credentials' },
  })

  it('works by the key of Daytona', async () => {
    const server = await startDaytonaServer()
    onTestFinished(() => server.close())
    const env = { DAYTONA_API_URL: server.apiUrl, DAYTONA_API_KEY: server.apiKey }
    expect(await tryOut('daytona', env)).toEqual(worked('daytona'))
  })

  it('works by the token of Modal', async () => {
    const server = await startModalServer()
    onTestFinished(() => server.close())
    vi.stubEnv('MODAL_SERVER_URL', server.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { MODAL_TOKEN_ID: server.tokenId, MODAL_TOKEN_SECRET: server.tokenSecret }
    expect(await tryOut('modal', env)).toEqual(worked('modal'))
  })

  it('works by the three values of Vercel', async () => {
    const server = await startVercelServer()
    onTestFinished(() => server.close())
    // The package knows one address of its service; requests to it are led here.
    vi.stubGlobal('fetch', server.fetch)
    onTestFinished(() => void vi.unstubAllGlobals())
    const { token, teamId, projectId } = server
    const env = { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId }
    expect(await tryOut('vercel_sandbox', env)).toEqual(worked('vercel_sandbox'))
    await expect(open('  backend: vercel_sandbox\n  container_disk: 1000\n', env)).rejects.toMatchObject({
      code: 'environment.invalid_option',
    })
  })

  it('keeps folders in step, but for the home and what is no pair of folders', async () => {
    const server = await startDaytonaServer()
    onTestFinished(() => server.close())
    const remote = await mkdtemp(join(tmpdir(), 'hermes-far-'))
    onTestFinished(() => rm(remote, { recursive: true, force: true }))
    const env = { DAYTONA_API_URL: server.apiUrl, DAYTONA_API_KEY: server.apiKey }
    const settings = (folder: string) => `  backend: daytona\n  cwd: ${remote}\n  sync_folders: ['${folder}']\n`
    const { environment, root } = await open(settings(`~/work:${remote}`), env)
    await run(environment, 'echo made > there')
    await environment.close()
    expect(await readFile(join(root, 'user/work/there'), 'utf8')).toBe('made\n')
    for (const wrong of ['~/work', '~/work:relative', `~:${remote}`, `~/.hermes/skills:${remote}`])
      await expect(open(settings(wrong), env)).rejects.toMatchObject({ code: 'runtime.backend_config' })
  })

  it('says which credentials are missing, and in which of the clouds they are refused', async () => {
    const server = await startDaytonaServer()
    onTestFinished(() => server.close())
    await expect(open('  backend: modal\n')).rejects.toMatchObject({
      code: 'runtime.backend_config',
      message:
        'terminal.backend modal needs MODAL_TOKEN_ID, MODAL_TOKEN_SECRET. Put them into .env of the Hermes home.',
    })
    const env = { DAYTONA_API_URL: server.apiUrl, DAYTONA_API_KEY: 'wrong-key' }
    const { request } = await requestFor('  backend: daytona\n', env)
    const found = await terminalBackends(request, { isOffline: false })
    const of = (backend: string) => found.find((one) => one.backend === backend)
    expect(of('daytona')).toMatchObject({ isReady: false, text: 'Daytona refuses the login. Check DAYTONA_API_KEY.' })
    expect(of('vercel_sandbox')).toMatchObject({
      isReady: false,
      text: expect.stringContaining('needs VERCEL_TOKEN, VERCEL_TEAM_ID, VERCEL_PROJECT_ID'),
    })
  })
})
