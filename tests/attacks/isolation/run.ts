// Runs probes against the isolation of this machine and judges from outside.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createPermit } from '@hermes/safety'
import { createIsolationSupport, createLocalEnvironment, filterEnvironment, secretLooking } from '@hermes/sandbox'
import type { Probe } from './probes.js'
import { type AttackScene, openScene } from './scene.js'

type Environment = ReturnType<typeof createLocalEnvironment>
type Support = ReturnType<typeof createIsolationSupport>

/** How one probe went. */
export interface ProbeResult {
  readonly id: string
  readonly title: string
  /** Empty where it held. */
  readonly holes: readonly string[]
  readonly transcript: string
}

/** Classes of single commands that disturb each other in nothing, and run as one. */
const TOGETHER = ['credential', 'history', 'later', 'socket']

/** Runs them all, one after the other. `say` hears the id of each that begins. */
export async function runProbes(
  probes: readonly Probe[],
  say: (id: string) => void = () => {},
): Promise<readonly ProbeResult[]> {
  const scene = await openScene()
  const support = createIsolationSupport()
  const results: ProbeResult[] = []
  try {
    for (const [name, group] of Map.groupBy(probes, (probe) => probe.class)) {
      if (name === 'outlive' || name === 'variable') {
        const alike = group.filter(({ open }) => open !== undefined)
        say(`${name} together`)
        results.push(...(await runAlike(scene, alike, support)))
        await renew(scene)
      }
      const goingOn = group.filter(isGoingOn)
      if (goingOn.length > 0) {
        say(`${name} going on`)
        results.push(...(await runGoingOn(scene, goingOn, support)))
        await renew(scene)
      }
      const shared = group.filter((probe) => probe.open === undefined && !isGoingOn(probe))
      if (shared.length > 0) results.push(...(await runShared(scene, shared, support, say)))
      for (const probe of group) {
        if (probe.open === undefined || name === 'outlive' || name === 'variable' || isGoingOn(probe)) continue
        say(probe.id)
        if (probe.plant) await scene.plant(probe.plant, probe.id)
        const environment = openEnvironment(scene, [probe], support)
        results.push(await run(scene, probe, environment, true))
        await environment.close()
        await renew(scene)
      }
    }
  } finally {
    await scene.close()
  }
  return results
}

async function renew(scene: AttackScene): Promise<void> {
  await scene.clear()
  scene.reset()
}

/** Probes of one environment, with all their files there when it is opened. */
async function runShared(
  scene: AttackScene,
  probes: readonly Probe[],
  support: Support,
  say: (id: string) => void,
): Promise<readonly ProbeResult[]> {
  const results: ProbeResult[] = []
  const plantAll = async () => {
    for (const probe of probes) if (probe.plant) await scene.plant(probe.plant, probe.id)
  }
  await plantAll()
  let environment = openEnvironment(scene, [], support)
  const single = probes.filter(({ class: name, commands }) => TOGETHER.includes(name) && commands.length === 1)
  const held = new Set(single.length > 1 ? await runTogether(scene, single, environment) : [])
  for (const probe of probes) {
    if (held.has(probe)) {
      results.push({ id: probe.id, title: probe.title, holes: [], transcript: '' })
      continue
    }
    say(probe.id)
    const result = await run(scene, probe, environment, false)
    results.push(result)
    const isSpoilt =
      result.holes.some((hole) => !hole.startsWith('read ') && !hole.startsWith('reached ')) ||
      result.transcript.includes('[threw')
    if (!isSpoilt) continue
    await environment.close()
    await renew(scene)
    await plantAll()
    environment = openEnvironment(scene, [], support)
  }
  await environment.close()
  await renew(scene)
  return results
}

/** One command with all of them; gives those that held for sure. */
async function runTogether(
  scene: AttackScene,
  probes: readonly Probe[],
  environment: Environment,
): Promise<readonly Probe[]> {
  const before = scene.look()
  scene.reached.length = 0
  const lines = probes.map(
    (probe) =>
      `printf '\\n==%s==\\n' ${probe.id}\n(\ncd ${scene.at.WORK}\n${scene.fill(String(probe.commands[0]), probe.id)}\n) < /dev/null 2>&1`,
  )
  const result = await exec(environment, [...lines, "printf '\\n==end==\\n'"].join('\n'), false, 60_000)
  if (typeof result !== 'string' || !result.includes('\n==end==')) return []
  const after = scene.look()
  const isChanged =
    [...after].some(([path, what]) => before.get(path) !== what) || [...before.keys()].some((path) => !after.has(path))
  const watched = probes
    .flatMap((probe) => (probe.watch ?? []).map((path) => scene.fill(path, probe.id)))
    .some((path) => existsSync(path))
  if (isChanged || watched) return []
  const texts = new Map(result.split('\n==').map((part) => [part.slice(0, part.indexOf('==')), part]))
  return probes.filter((probe) => {
    const text = texts.get(probe.id)
    const sockets = (probe.plant?.sockets ?? []).map((path) => scene.fill(path, probe.id))
    return text !== undefined && !shows(scene, text) && !sockets.some((path) => scene.reached.includes(path))
  })
}

/** Probes that are one: all their variables in one environment, or all their processes, which are looked for when it was closed. */
async function runAlike(
  scene: AttackScene,
  probes: readonly Probe[],
  support: Support,
): Promise<readonly ProbeResult[]> {
  const environment = openEnvironment(scene, probes, support)
  const texts = [String(await exec(environment, 'echo alive'))]
  const isAlive = texts[0]!.includes('alive')
  for (const command of new Set(probes.map((probe) => scene.fill(String(probe.commands[0]), probe.id))))
    texts.push(String(await exec(environment, command)))
  await environment.close()
  const transcript = texts.join('\n')
  const left = readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [{ pid: Number(pid), line: readFileSync(`/proc/${pid}/cmdline`, 'latin1') }] : []
    } catch {
      return []
    }
  })
  return probes.map((probe) => {
    const holes: string[] = isAlive ? [] : ['nothing runs inside']
    const secret = scene.secretOf(probe.id)
    if (probe.mustNot === 'read' && transcript.includes(secret))
      holes.push(`read ${Object.keys(probe.plant?.env ?? {}).join()}`)
    const word = /987@PORT@\d/.exec(String(probe.commands[0]))?.[0]
    if (word !== undefined)
      for (const { pid, line } of left)
        if (line.includes(scene.fill(word, probe.id))) {
          holes.push('a process outlives the environment')
          process.kill(pid, 'SIGKILL')
        }
    return { id: probe.id, title: probe.title, holes, transcript }
  })
}

/** A program that goes on while something outside changes, and nothing else. */
const isGoingOn = ({ commands: [first, second, ...rest], open = {} }: Probe): boolean =>
  typeof first === 'object' &&
  'background' in first &&
  typeof second === 'object' &&
  'host' in second &&
  rest.length === 1 &&
  Object.keys(open).length === 0

/** All of their programs in one environment; then what comes is put in place, and what each has seen is its own output. */
async function runGoingOn(
  scene: AttackScene,
  probes: readonly Probe[],
  support: Support,
): Promise<readonly ProbeResult[]> {
  for (const probe of probes) if (probe.plant) await scene.plant(probe.plant, probe.id)
  const environment = openEnvironment(scene, [], support)
  const alive = await exec(environment, 'echo alive')
  const isAlive = typeof alive === 'string' && alive.includes('alive')
  scene.reached.length = 0
  const background: { output(): string; kill(): Promise<void> }[] = []
  for (const { id, commands } of probes) {
    const command = scene.fill((commands[0] as { background: string }).background, id)
    background.push(await environment.spawn(createPermit(actionOf(command, environment.cwd(), false)), command))
  }
  const sockets = new Map<string, readonly string[]>()
  for (const { id, commands } of probes) {
    const { host } = commands[1] as { host: NonNullable<Probe['plant']> }
    await scene.plant(host, id)
    sockets.set(
      id,
      (host.sockets ?? []).map((path) => scene.fill(path, id)),
    )
  }
  for (const rest of new Set(probes.map(({ commands }) => String(commands[2])))) await exec(environment, rest)
  const results: ProbeResult[] = []
  for (const [at, { id, title }] of probes.entries()) {
    const transcript = background[at]!.output()
    await background[at]!.kill()
    const holes = isAlive ? [] : ['nothing runs inside']
    if (shows(scene, transcript) !== undefined) holes.push('read a secret')
    if (sockets.get(id)!.some((path) => scene.reached.includes(path))) holes.push('reached a socket')
    results.push({ id, title, holes, transcript })
  }
  await environment.close()
  return results
}

function openEnvironment(scene: AttackScene, probes: readonly Probe[], support: Support): Environment {
  const [probe] = probes
  const fill = (text: string) => scene.fill(text, probe?.id ?? 'none')
  const { cwd, home, writable, readable, hidden, offline } = probe?.open ?? {}
  const variables = probes.flatMap(({ id, plant }) =>
    Object.entries(plant?.env ?? {}).map(([name, value]) => [name, scene.fill(value, id)] as const),
  )
  const HOME = fill(home ?? '@HOME@')
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME,
    HERMES_HOME: scene.at.HERMES,
    ...Object.fromEntries(variables),
  }
  return createLocalEnvironment({
    cwd: fill(cwd ?? '@WORK@'),
    home: HOME,
    outputDir: scene.at.OUTPUTS,
    env: filterEnvironment(env, { secretNames: secretLooking(env) }),
    isolation: {
      support,
      hidden: [scene.at.HERMES, ...(hidden ?? []).map(fill)],
      ...(writable && { writable: writable.map(fill) }),
      ...(readable && { readable: readable.map(fill) }),
      ...(offline && { network: false }),
    },
  })
}

const actionOf = (command: string, cwd: string, outside: boolean) =>
  ({ type: 'spawn', command, cwd, backend: 'local', ...(outside && { outside: true as const }) }) as const

/** What it printed, or the error that kept it from running. */
async function exec(
  environment: Environment,
  command: string,
  outside = false,
  timeoutMs = 12_000,
): Promise<string | { readonly refused: string; readonly timedOut: boolean }> {
  try {
    const permit = createPermit(actionOf(command, environment.cwd(), outside))
    const { output, timedOut } = await environment.exec(permit, command, {
      timeoutMs,
      maxOutputBytes: 400_000,
      ...(outside && { outside: true }),
    })
    return timedOut ? { refused: output, timedOut } : output
  } catch (error) {
    return { refused: `[threw ${error}]`, timedOut: false }
  }
}

const shows = (scene: AttackScene, text: string): string | undefined =>
  [...scene.secrets].find(
    (secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').slice(2, 14)),
  )

async function run(scene: AttackScene, probe: Probe, environment: Environment, isOwn: boolean): Promise<ProbeResult> {
  const holes: string[] = []
  const texts: string[] = []
  const fill = (text: string) => scene.fill(text, probe.id)
  scene.reached.length = 0
  const judgesChange = probe.mustNot !== 'read' || !['@HOME@', '@ROOT@', '/'].includes(probe.open?.cwd ?? '')
  const isWritable = (path: string) => (probe.open?.writable ?? []).some((input) => path.startsWith(fill(input)))
  let before = scene.look()
  const judgeChanges = () => {
    const after = scene.look()
    const short = (path: string) => path.slice(scene.at.ROOT.length)
    if (judgesChange) {
      for (const [path, what] of after)
        if (before.get(path) !== what && !isWritable(path))
          holes.push(`${before.has(path) ? 'changed' : 'made'} ${short(path)}`)
      for (const path of before.keys()) if (!after.has(path) && !isWritable(path)) holes.push(`removed ${short(path)}`)
    }
    before = after
  }
  const background: { output(): string; kill(): Promise<void> }[] = []
  const runOne = async (command: string, outside: boolean) => {
    const began = performance.now()
    const result = await exec(environment, command, outside)
    texts.push(typeof result === 'string' ? result : result.refused)
    if (probe.mustNot === 'hang' && typeof result !== 'string' && result.timedOut)
      holes.push(`timed out: ${command.slice(0, 80)}`)
    if (probe.mustNot === 'hang' && performance.now() - began > 11_000)
      holes.push(`held up by: ${command.slice(0, 80)}`)
  }
  // Where nothing runs, nothing gets through.
  const first = isOwn ? 'echo alive' : `cd ${scene.at.WORK} && echo alive`
  const tried = await exec(environment, first)
  // A second time, for a socket of another program may go away just when it is to be hidden.
  const alive = typeof tried === 'string' && tried.includes('alive') ? tried : await exec(environment, first)
  if (typeof alive !== 'string' || !alive.includes('alive'))
    holes.push(`nothing runs inside: ${typeof alive === 'string' ? alive.trim() : alive.refused}`)
  for (const step of probe.commands) {
    if (typeof step === 'string') await runOne(fill(step), false)
    else if ('outside' in step) await runOne(fill(step.outside), true)
    else if ('host' in step) {
      judgeChanges()
      await scene.plant(step.host, probe.id)
      before = scene.look()
    } else {
      const command = fill(step.background)
      try {
        background.push(await environment.spawn(createPermit(actionOf(command, environment.cwd(), false)), command))
      } catch (error) {
        texts.push(`[threw ${error}]`)
      }
    }
  }
  if (probe.mustNot === 'hang' && !texts.some((text) => /(^|\n)still here(\n|$)/.test(text)))
    holes.push('what comes next did not run')
  for (const process of background) {
    texts.push(process.output())
    await process.kill()
  }
  judgeChanges()
  const transcript = texts.join('\n')
  const secret = shows(scene, transcript)
  if (secret !== undefined) holes.push('read a secret')
  if (transcript.includes(fill('@TAKEN@'))) holes.push('took what it must not have')
  for (const path of scene.reached)
    holes.push(`reached ${path.startsWith(scene.at.ROOT) ? path.slice(scene.at.ROOT.length) : 'a socket'}`)
  if (!scene.bystander.isWell()) holes.push('a process outside was ended, stopped or changed')
  for (const path of probe.watch ?? [])
    if (existsSync(fill(path))) {
      holes.push(`wrote ${path}`)
      rmSync(fill(path), { force: true })
    }
  if (!isOwn)
    for (const name of readdirSync(scene.at.WORK)) rmSync(`${scene.at.WORK}/${name}`, { recursive: true, force: true })
  return { id: probe.id, title: probe.title, holes: [...new Set(holes)], transcript }
}
