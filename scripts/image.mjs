// The image of docker/ as packed.mjs tries it: built over an installed CLI, run as compose.yaml says by two users, killed in the middle of a run.
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { startServer } from '../bench/model-server.mjs'
import { importSource } from './import-source.mjs'

const root = resolve(import.meta.dirname, '..')
const KEY = 'k'.repeat(40)
const USERS = ['1000:1000', '2345:678']

/**
 * @param {{ directory: string, node: string }} options `directory` has @hermes/cli installed, `node` is the binary of the base
 * @returns why it cannot be tried here; `null` when the image did what it has to
 * @throws when it did not
 */
export async function tryImage({ directory, node }) {
  const engines = join(root, 'packages/testkit/src/daemons/docker-engine.ts')
  const { dockerMissing, startDockerEngine } = await importSource(engines)
  const missing = dockerMissing()
  if (missing !== null) return missing
  const engine = await startDockerEngine()
  const docker = (...args) =>
    execFileSync('docker', args, { env: { ...engine.env, DOCKER_BUILDKIT: '0' }, encoding: 'utf8', stdio: 'pipe' })
  try {
    makeBase({ docker, folder: join(engine.directory, 'base'), node, image: engine.image })
    const context = join(engine.directory, 'context')
    cpSync(join(root, 'docker/image'), context, { recursive: true })
    cpSync(directory, context, { recursive: true })
    docker('build', '--build-arg', 'BASE=hermes-test/node', '--tag', 'hermes', context)
    for (const user of USERS) await runKilled({ docker, engine, user })
    return null
  } finally {
    await engine.stop()
  }
}

/** What the official image of Node has of it, made from this machine: the network has none for a test. */
function makeBase({ docker, folder, node, image }) {
  mkdirSync(folder, { recursive: true })
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const libraries = [node, git].flatMap((program) =>
    [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(?:^|\s)(\/\S+) \(0x/g)].map(([, path]) => path),
  )
  for (const path of new Set(libraries)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(path, join(folder, path))
  }
  mkdirSync(join(folder, 'bin'), { recursive: true })
  copyFileSync(node, join(folder, 'bin/node'))
  copyFileSync(git, join(folder, 'bin/git'))
  execFileSync('sh', ['-c', `printf 'FROM ${image}\\nCOPY . /\\n' > Dockerfile`], { cwd: folder })
  docker('build', '--tag', 'hermes-test/node', folder)
}

/** A run that its container did not live to end is ended by the next one. */
async function runKilled({ docker, engine, user }) {
  const server = await startServer()
  const port = await freePort()
  const name = `hermes-${user.split(':')[0]}`
  const api = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const call = async (path, init) => {
    const response = await fetch(api + path, { headers, ...init })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const logs = () => execFileSync('sh', ['-c', `docker logs ${name} 2>&1`], { env: engine.env, encoding: 'utf8' })
  const start = async () => {
    docker(
      'run',
      '--detach',
      ...optionsOf({ name, user }),
      'hermes',
      ...['gateway', 'run', '--host', '127.0.0.1'],
      ...['--port', String(port), '--base-url', server.baseUrl, '-m', 'm'],
    )
    await until(async () => (await fetch(`${api}/health`)).ok, logs)
  }
  try {
    await server.script({ turns: 1, tool: 'terminal', args: { command: 'sleep 3' }, text: 'Slept.' })
    await start()
    const { run_id: id } = await call('/v1/runs', { method: 'POST', body: JSON.stringify({ input: 'Go.' }) })
    await until(async () => (await server.requests()).length > 0, logs)
    docker('kill', name)
    docker('rm', name)
    await start()
    let run
    const isOver = async () => {
      run = await call(`/v1/runs/${id}`)
      return !['queued', 'in_progress', 'running', 'started'].includes(run.status)
    }
    await until(isOver, () => `${JSON.stringify(run)}\n${logs()}`)
    if (run.status !== 'completed') throw new Error(`the run ended as ${JSON.stringify(run)}\n${logs()}`)
    const owner = docker('exec', name, 'stat', '-c', '%u:%g %a', '/data/.hermes').trim()
    if (owner !== `${user} 700`) throw new Error(`the home is of ${owner}, not ${user} 700`)
    const stopped = performance.now()
    docker('stop', name)
    if (
      docker('inspect', '--format', '{{.State.ExitCode}}', name).trim() !== '0' ||
      performance.now() - stopped > 10_000
    )
      throw new Error(`it did not stop by itself:\n${logs()}`)
  } finally {
    await promisify(execFile)('docker', ['rm', '--force', name], { env: engine.env }).catch(() => undefined)
    server.close()
  }
}

/** What compose.yaml says of the container; the network is that of the machine, as the engine of the test has none. */
function optionsOf({ name, user }) {
  const service = parse(readFileSync(join(root, 'docker/compose.yaml'), 'utf8')).services.hermes
  const tried =
    'build image hostname init restart read_only tmpfs user cap_drop security_opt stop_grace_period env_file ports volumes'
  const known = new Set(tried.split(' '))
  const others = Object.keys(service).filter((key) => !known.has(key))
  if (others.length > 0) throw new Error(`docker/compose.yaml: ${others} is not tried here`)
  return [
    ...['--name', name, '--network', 'host', '--user', user],
    ...['--env', `API_SERVER_KEY=${KEY}`],
    ...['--hostname', service.hostname],
    ...(service.read_only ? ['--read-only'] : []),
    ...service.tmpfs.flatMap((path) => ['--tmpfs', path]),
    ...service.cap_drop.flatMap((name) => ['--cap-drop', name]),
    ...service.security_opt.flatMap((option) => ['--security-opt', option]),
    ...service.volumes.flatMap((volume) => ['--volume', `${name}-${volume}`]),
  ]
}

async function until(holds, explain) {
  let last = ''
  for (let look = 0; look < 450; look++) {
    try {
      if (await holds()) return
    } catch (error) {
      last = error.message
    }
    await sleep(200)
  }
  throw new Error(`it never came: ${last}\n${explain()}`)
}

function freePort() {
  return new Promise((settle) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => settle(port))
    })
  })
}
