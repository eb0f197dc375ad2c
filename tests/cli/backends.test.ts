// The same tools elsewhere, through the built command: in a container, and held to the workspace on this machine.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type DockerEngine, dockerMissing, missingPrograms, needs, startDockerEngine } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

async function chat(terminal: string, env: Readonly<Record<string, string>> = {}) {
  const { home, cwd, server } = scene
  await mkdir(home, { recursive: true })
  await writeFile(
    join(home, 'config.yaml'),
    `agent:\n  verify_on_stop: off\nauxiliary:\n  title_generation:\n    enabled: false\nterminal:\n${terminal}`,
  )
  return runCli(['chat', '-q', 'Go.', '--base-url', server.baseUrl, '-m', 'test', '--yolo'], { home, cwd, env })
}
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })
/** What the tools answered, in order. */
const answers = () =>
  (scene.server.requests.at(-1)!.body as unknown as { messages: { role: string; content: unknown }[] }).messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.stringify(content))

needs(dockerMissing())('with terminal.backend: docker', () => {
  let engine: DockerEngine
  beforeAll(async () => {
    engine = await startDockerEngine()
  })
  afterAll(() => engine.stop())

  const settings = (image: string) =>
    `  backend: docker\n  docker_image: ${image}\n  docker_network: false\n  docker_shm_size: 64m\n  container_memory: 256\n`

  it('all tools act in the container, and nothing on this machine', async () => {
    scene.server.enqueue(
      call('write_file', { path: 'src/a.txt', content: 'one\ntwo\n' }),
      call('patch', { path: 'src/a.txt', old_string: 'two', new_string: 'three' }),
      call('search_files', { pattern: 'three' }),
      call('terminal', { command: 'cd src; export SEEN=1; cat a.txt; cat /etc/os-release' }),
      call('terminal', { command: 'echo $SEEN; pwd' }),
      call('read_file', { path: 'a.txt' }),
      { text: 'Done.' },
    )
    const result = await chat(settings(engine.image), { DOCKER_HOST: engine.env['DOCKER_HOST']! })
    expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Done.') })
    expect(result.stderr).toContain('/workspace (docker) is in no git repository that can be read')
    const [, patched, found, first, second, read] = answers()
    expect(patched).toContain('three')
    expect(found).toContain('a.txt')
    expect(first).toMatch(/one\\+nthree\\+n.*Busybox/)
    expect(second).toContain('/workspace/src')
    expect(read).toContain('three')
    expect(await readdir(scene.cwd)).toEqual([])
    const kept = join(scene.home, 'sandboxes/docker/default/workspace/src')
    expect(await readdir(kept)).toEqual(['a.txt'])
    const system = JSON.stringify(scene.server.requests[0]!.body)
    expect(system).toContain('All tools act inside this docker environment, not on the host.')
  })

  it('says in one line that the engine is not there', async () => {
    const result = await chat(settings(engine.image), { DOCKER_HOST: `unix://${engine.directory}/none.sock` })
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(/^hermes: The container engine does not answer\. [^\n]+\n$/)
  })
})

needs(missingPrograms('bwrap'))('with terminal.isolation: on', () => {
  it('commands see no credentials and no home of Hermes', async () => {
    const user = dirname(scene.home)
    await mkdir(user, { recursive: true })
    await writeFile(join(user, '.netrc'), 'the password')
    scene.server.enqueue(
      call('terminal', { command: `cat ~/.netrc ${scene.home}/config.yaml; echo inside > made; ls` }),
      { text: 'Done.' },
    )
    expect((await chat('  isolation: on\n')).exitCode).toBe(0)
    const [answer] = answers()
    expect(answer).toMatch(/Permission denied/)
    expect(answer).toContain('made')
    expect(answer).not.toMatch(/the password|title_generation/)
    expect(await readdir(scene.cwd)).toEqual(['made'])
  })
})

needs(missingPrograms('ssh'))('hermes doctor', () => {
  it('says which backends are ready, and fails on the chosen one that is not', async () => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(
      join(scene.home, 'config.yaml'),
      'terminal:\n  backend: ssh\n  ssh_host: 127.0.0.1\n  ssh_port: 1\n',
    )
    const { stdout, exitCode } = await runCli(['doctor'], { home: scene.home, cwd: scene.cwd })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^ok {4}Terminal backend local: ready, /m)
    expect(stdout).toMatch(
      /^fail {2}Terminal backend ssh \(chosen\): not ready: 127\.0\.0\.1 refuses connections.*terminal\.backend local$/m,
    )
  })
})

it('names the package to install for the cloud that was chosen, and nothing that others need', async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), 'terminal:\n  backend: daytona\n')
  const env = { DAYTONA_API_KEY: 'key-of-test' }
  const { stdout, exitCode } = await runCli(['doctor'], { home: scene.home, cwd: scene.cwd, env })
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(
    /^fail {2}Terminal backend daytona \(chosen\): not ready: The package @daytona\/sdk .*npm i -g @daytona\/sdk\. /m,
  )
  expect(stdout).not.toContain('backend modal')
  expect(stdout).not.toContain('key-of-test')
  const result = await chat('  backend: daytona\n', env)
  expect(result).toMatchObject({
    exitCode: 1,
    stderr: 'hermes: The package @daytona/sdk is not installed. Install it beside Hermes: npm i -g @daytona/sdk\n',
  })
})
