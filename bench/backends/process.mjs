// node process.mjs '{"directory":…,"rounds":…,"backend":"ssh"}': measures one backend in this process and prints samples as JSON, or why
// it cannot be had here.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const { directory, rounds, backend } = JSON.parse(process.argv[2])
const [cwd, home, outputDir] = ['work', 'home', 'output'].map((name) => join(directory, name))
for (const name of [cwd, home]) mkdirSync(name, { recursive: true })

const { createPermit } = await import('../../packages/safety/src/index.ts')
const kit = await import('../../packages/testkit/src/daemons/index.ts')
const clouds = await import('../../packages/testkit/src/clouds/index.ts')
const clientEnv = { PATH: process.env.PATH, HOME: home }

/** How each is opened; `stop` ends the server behind it. */
const open = {
  local: async () => openLocal({}),
  isolated: async () => {
    const { probeIsolation } = await import('../../packages/sandbox/src/isolation/index.ts')
    const why = await probeIsolation()
    return why === null ? openLocal({ isolation: {}, temp: [] }) : { why }
  },
  ssh: async () => {
    const why = kit.missingPrograms('sshd', 'ssh', 'ssh-keygen')
    if (why !== null) return { why }
    const server = await kit.startSshServer()
    const { openSshEnvironment } = await import('../../packages/sandbox/src/ssh/open-ssh.ts')
    const { port, identityFile, knownHostsFile } = server
    const target = { host: '127.0.0.1', port, identityFile, knownHostsFile, configFile: '/dev/null' }
    return {
      environment: await openSshEnvironment({ ...target, cwd, outputDir, clientEnv }),
      stop: () => server.stop(),
    }
  },
  docker: async () => {
    const why = kit.dockerMissing()
    if (why !== null) return { why }
    const engine = await kit.startDockerEngine()
    const { openDockerEnvironment } = await import('../../packages/sandbox/src/docker/open-docker.ts')
    const options = { image: engine.image, clientEnv: engine.env, outputDir, network: false, persistent: false }
    return { environment: await openDockerEnvironment({ ...options, memoryMb: 256 }), stop: () => engine.stop() }
  },
  singularity: async () => {
    const wanted = process.env.HERMES_TEST_APPTAINER
    const why = kit.apptainerMissing(wanted)
    if (why !== null) return { why }
    const image = await kit.makeApptainerImage(wanted)
    const { openSingularityEnvironment } = await import('../../packages/sandbox/src/singularity/open-singularity.ts')
    const environment = await openSingularityEnvironment({
      program: image.program,
      image: image.image,
      clientEnv: image.env,
      cwd: '/workspace',
      outputDir,
    })
    return { environment, stop: () => image.remove() }
  },
  modal: async () => {
    const server = await clouds.startModalServer()
    process.env.MODAL_SERVER_URL = server.url
    const { openModalEnvironment } = await import('../../packages/sandbox/src/modal/open-modal.ts')
    const { tokenId, tokenSecret } = server
    return cloud(server, await openModalEnvironment({ tokenId, tokenSecret, cwd, outputDir }))
  },
  daytona: async () => {
    const server = await clouds.startDaytonaServer()
    const { openDaytonaEnvironment } = await import('../../packages/sandbox/src/daytona/open-daytona.ts')
    const { apiKey, apiUrl } = server
    return cloud(server, await openDaytonaEnvironment({ apiKey, apiUrl, target: 'us', cwd, outputDir }))
  },
  vercel_sandbox: async () => {
    const server = await clouds.startVercelServer()
    const { openVercelEnvironment } = await import('../../packages/sandbox/src/vercel/open-vercel.ts')
    const { token, teamId, projectId, fetch } = server
    return cloud(server, await openVercelEnvironment({ token, teamId, projectId, fetch, cwd, outputDir }))
  },
}

async function openLocal(more) {
  const { createLocalEnvironment } = await import('../../packages/sandbox/src/index.ts')
  return {
    environment: createLocalEnvironment({ cwd, home, outputDir, env: clientEnv, ...more }),
    stop: () => undefined,
  }
}

const cloud = (server, environment) => ({ environment, stop: () => server.close() })

const childrenOfMine = () => {
  const all = execFileSync('ps', ['-eo', 'ppid=,stat='], { encoding: 'utf8' }).split('\n')
  return all.map((line) => line.trim().split(/\s+/)).filter(([parent]) => Number(parent) === process.pid)
}
const openFiles = () => readdirSync('/proc/self/fd').length
const handles = () =>
  process.getActiveResourcesInfo().filter((name) => !/^(?:TTY|Pipe|FSReq|Immediate|Timeout|TCP)/.test(name)).length
const settle = () => new Promise((resolve) => setTimeout(resolve, 500))

const opened = await open[backend]()
if (opened.why !== undefined) console.log(JSON.stringify(opened))
else {
  const { environment, stop } = opened
  const run = (command, options) => {
    const action = { type: 'spawn', command, cwd: environment.cwd(), backend: environment.backend }
    return environment.exec(createPermit(action), command, options)
  }
  const stops = await measureStops(run)
  // Over there each command takes its way: a thousand of them here, fewer where one takes long.
  const commands = /local|isolated/.test(backend) ? 1_000 : 100
  for (let at = 0; at < 5; at++) await run('true')
  await settle()
  const before = openFiles() + handles()
  for (let at = 0; at < commands; at++) await run(at % 10 === 0 ? 'sleep 0 & true' : 'true')
  await settle()
  const zombies = childrenOfMine().filter(([, stat]) => stat.startsWith('Z')).length
  const open = Math.max(0, openFiles() + handles() - before)
  console.log(JSON.stringify({ ...stops, commands, zombies, open }))
  await environment.close()
  await stop()
  process.exit(0)
}

/** A tree of which a part ignores every signal it can. */
async function measureStops(run) {
  const [goneMs, left] = [[], []]
  const stubborn = 'sh -c \'trap "" TERM INT HUP; echo $$; while :; do sleep 0.1; done\' &'
  const meek = "sh -c 'echo $$; while :; do sleep 0.1; done' &"
  for (let round = 0; round < rounds; round++) {
    const controller = new AbortController()
    let shown = ''
    let stoppedMs = 0
    const onOutput = (text) => {
      shown += text
      if (stoppedMs > 0 || (shown.match(/\d+\n/g) ?? []).length < 3) return
      stoppedMs = performance.now()
      controller.abort()
    }
    await run(`${meek} ${stubborn} ${stubborn} wait`, { signal: controller.signal, onOutput, timeoutMs: 60_000 })
    goneMs.push(performance.now() - stoppedMs)
    const alive =
      'for p in PIDS; do kill -0 $p 2>/dev/null && ! grep -qs "^State:.[ZX]" /proc/$p/status && echo $p; done; true'
    const { output } = await run(alive.replace('PIDS', shown.match(/\d+/g).join(' ')))
    left.push(output.trim() === '' ? 0 : output.trim().split('\n').length)
  }
  return { goneMs, left }
}
