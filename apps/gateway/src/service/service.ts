// `hermes gateway install`, `uninstall`, `start`, `stop`, `restart`, `reload`: by the supervisor where the service is installed, else by hand.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defaultHome, homeLayout, loadConfig } from '@hermes/config'
import { errorLine, systemClock } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import { type GatewayState, gatewayStates, isRunning, signalProcess } from '../gateway-state.js'
import type { Service } from './definitions.js'
import { serviceName } from './definitions.js'
import { type Supervisor, supervisorOf } from './supervisor.js'

const EXIT_FAILED = 1
const STARTS_WITHIN_MS = 30_000
const STOPS_WITHIN_MS = 30_000
/** From the last word of a gateway to the end of its process. */
const ENDS_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 50
/** Beside the time that requests may take at a restart. */
const MORE_SECONDS = 30
const MAX_NOTIFIED_CHARS = 500
/** What a service keeps of the environment it was installed in; keys belong into `.env` of the home. */
const KEPT =
  /^(?:PATH|LANG|LC_ALL|TZ|HERMES_HOME|HERMES_PROFILE|NODE_EXTRA_CA_CERTS|HTTPS?_PROXY|NO_PROXY|XDG_[A-Z]+_HOME)$/

/** What is asked for on the command line beside the verb. */
type Flags = readonly string[]

/** Installs the service and starts it; the flags are those of `run`. */
export async function install(io: Io, flags: Flags): Promise<number> {
  const supervisor = supervisorFor(io)
  if (!supervisor) return say(io, 'No supervisor of this system is known: let yours run `hermes gateway run`.')
  return attempt(io, async () => {
    await supervisor.install(await serviceOf(io, flags))
    io.stdout.write(
      `Installed: ${supervisor.file}\nIt starts with your login and after a crash. Keys have to stand in ${join(defaultHome(io), '.env')}; those of this shell do not reach it.\n`,
    )
    if (process.platform === 'linux') io.stdout.write('To keep it running when you log out: loginctl enable-linger\n')
  })
}

/** Stops the service and removes it. */
export async function uninstall(io: Io): Promise<number> {
  const supervisor = supervisorFor(io)
  if (!(await supervisor?.isInstalled())) return say(io, 'It is not installed as a service of this home.')
  return attempt(io, async () => {
    await supervisor!.uninstall()
    io.stdout.write(`Removed: ${supervisor!.file}\n`)
  })
}

/** Starts it in the background, and waits until it listens. */
export async function start(io: Io, flags: Flags): Promise<number> {
  const [running] = await statesOf(io)
  if (running) {
    io.stdout.write(`It runs already: process ${running.pid}, ${running.address}\n`)
    return 0
  }
  const supervisor = supervisorFor(io)
  if (await supervisor?.isInstalled()) return attempt(io, () => supervisor!.start())
  return startByHand(io, flags)
}

/** Ends the gateways of the home and waits for their end; exit code 1 where one goes on. */
export async function stop(io: Io): Promise<number> {
  const running = await statesOf(io)
  const supervisor = supervisorFor(io)
  // Else it is not told that this end was meant.
  if (running.length > 0 && (await supervisor?.isInstalled())) await supervisor!.stop().catch(() => undefined)
  for (const { pid } of running) signalProcess(pid, 'SIGTERM')
  const left = await until(io, (states) => states.length === 0, STOPS_WITHIN_MS)
  // A process that nobody waits for has no end to be seen.
  if (left.length === 0) await until(io, () => !running.some(({ pid }) => isRunning(pid)), ENDS_WITHIN_MS)
  for (const { pid } of left) io.stderr.write(`Process ${pid} has not ended yet; it finishes what it does.\n`)
  io.stdout.write(
    running.length === 0 ? 'No gateway runs on this home.\n' : `Stopped: ${running.length - left.length}.\n`,
  )
  return left.length === 0 ? 0 : EXIT_FAILED
}

/** Lets what is under way come to its end, and starts it again with the flags it had. */
export async function restart(io: Io, flags: Flags): Promise<number> {
  const running = await statesOf(io)
  if (running.length === 0) return start(io, flags)
  const waitMs = (await stopSeconds(io)) * 1_000
  for (const { pid } of running) signalProcess(pid, 'SIGUSR2')
  const before = new Set(running.map(({ pid }) => pid))
  await until(io, (states) => states.every(({ pid }) => !before.has(pid)), waitMs)
  const byHand = running.filter(({ isSupervised }) => !isSupervised)
  for (const { flags: had } of byHand)
    if ((await startByHand(io, flags.length > 0 ? flags : had)) !== 0) return EXIT_FAILED
  if (byHand.length === running.length) return 0
  const now = await until(io, (states) => states.length >= running.length, STARTS_WITHIN_MS)
  if (now.length < running.length) return say(io, 'Its supervisor has not started it again; see hermes gateway logs.')
  for (const { pid, address } of now) io.stdout.write(`Started: process ${pid}, ${address}\n`)
  return 0
}

/** Has the configuration read again; what cannot be used changes nothing, and its log says why. */
export async function reload(io: Io): Promise<number> {
  const running = await statesOf(io)
  if (running.length === 0) return say(io, 'No gateway runs on this home.')
  const inTerminal = running.find((one) => one.isInTerminal)
  if (inTerminal) return say(io, `Process ${inTerminal.pid} runs in a terminal: end it there, and start it again.`)
  for (const { pid } of running) signalProcess(pid, 'SIGHUP')
  io.stdout.write('Told. Whether it could be used is in hermes gateway logs.\n')
  return 0
}

async function startByHand(io: Io, flags: Flags): Promise<number> {
  const out = join(homeLayout(defaultHome(io)).logs, 'gateway.out')
  await mkdir(dirname(out), { recursive: true })
  const file = await open(out, 'w', 0o600)
  const { command } = await serviceOf(io, flags)
  const child = spawn(command[0]!, command.slice(1), {
    cwd: io.cwd,
    env: { ...io.env },
    detached: true,
    stdio: ['ignore', file.fd, file.fd],
  })
  const ended = once(child, 'exit').then(() => true)
  const listens = until(io, (states) => states.some(({ pid }) => pid === child.pid), STARTS_WITHIN_MS)
  await Promise.race([ended, listens])
  child.unref()
  await file.close()
  const state = (await statesOf(io)).find(({ pid }) => pid === child.pid)
  if (!state)
    return say(io, (await readFile(out, 'utf8')).trim().slice(-MAX_NOTIFIED_CHARS) || 'It ended without a word.')
  io.stdout.write(`Started: process ${state.pid}, ${state.address}\n`)
  return 0
}

async function serviceOf(io: Io, flags: Flags): Promise<Service> {
  const home = defaultHome(io)
  const variables = Object.fromEntries(Object.entries(io.env).filter(([name]) => KEPT.test(name)))
  return {
    ...{ name: nameOf(io), home, cwd: io.cwd },
    command: [io.nodePath, io.script, 'gateway', 'run', ...flags],
    variables: { ...variables, HERMES_HOME: home },
    stopSeconds: await stopSeconds(io),
  }
}

async function stopSeconds({ env, ...io }: Io): Promise<number> {
  const { config } = await loadConfig({ home: defaultHome({ env, ...io }), env })
  return Math.ceil(config.gateway.restart_drain_timeout) + MORE_SECONDS
}

function supervisorFor(io: Io): Supervisor | null {
  return supervisorOf(io, nameOf(io))
}

function nameOf(io: Io): string {
  const profile = io.env['HERMES_PROFILE']
  const named = profile === undefined ? {} : { profile }
  return serviceName({ home: defaultHome(io), userHome: io.userHome, ...named })
}

const statesOf = (io: Io) => gatewayStates(defaultHome(io), systemClock.now())

async function until(
  io: Io,
  isSo: (states: readonly GatewayState[]) => boolean,
  withinMs: number,
): Promise<readonly GatewayState[]> {
  const endMs = systemClock.now() + withinMs
  for (;;) {
    const states = await statesOf(io)
    if (isSo(states) || systemClock.now() > endMs) return states
    await systemClock.sleep(LOOK_EVERY_MS)
  }
}

async function attempt(io: Io, work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return 0
  } catch (error) {
    return say(io, errorLine(error))
  }
}

function say(io: Io, line: string): number {
  io.stderr.write(`hermes gateway: ${line.replace(/^hermes gateway: /, '')}\n`)
  return EXIT_FAILED
}
