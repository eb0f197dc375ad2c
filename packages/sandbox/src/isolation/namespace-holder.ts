import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { HermesError } from '@hermes/contracts'
import { processStartTime } from '../processes/process-tree.js'
import { type Cgroup, type CgroupPlaces, openCgroup } from './cgroup.js'
import { type ProgramLimits, watchLimits } from './namespace-limits.js'
import type { InTurn } from './turns.js'

const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix', '/gnu']
const PATH = '/usr/local/bin:/usr/bin:/bin'

/** Ends when the agent is gone or lets go of it: then everything else in here ends too, unless it was told to let that go on. */
const HOLD = `kept=
while read -r line; do kept=$line; done
if [ -z "$kept" ]; then
  kill -s TERM -- -1 && sleep 2
  while kill -s KILL -- -1; do sleep 1; done
  exit
fi
while :; do
  count=0
  for one in /proc/[0-9]*; do count=$((count+1)); done
  [ $count -le 2 ] && exit
  sleep 2
done`

const SETTLE_POLL_MS = 1

/** File descriptors of the namespaces; the caller closes them. */
interface HeldNamespaces {
  readonly user: number
  readonly pid: number
  /** Their first process, as this machine counts. */
  readonly init: number
  /** What a command line begins with to have nothing but the shared loopback; `null` where there is none. */
  readonly loopback: readonly string[] | null
  /** What a command line begins with to be within the limits that the kernel keeps; empty where it keeps none. */
  readonly enter: readonly string[]
}

const NSENTER = ['/usr/bin/nsenter', '/bin/nsenter', '/run/current-system/sw/bin/nsenter']

/**
 * Keeps one user and one process namespace for all isolated commands of an environment, so that a later command sees and ends what an
 * earlier one left in the background, and nothing else on the machine.
 */
export class NamespaceHolder {
  readonly #program: string
  readonly #limits: ProgramLimits
  readonly #cgroups: CgroupPlaces | undefined
  readonly #stopped = new Map<number, string>()
  readonly #nsenter: string | null
  readonly #inTurn: InTurn
  /** What the process namespace is called, once it is there, such as `pid:[4026532412]`. */
  processes: string | null = null
  #holding: Promise<Holding> | null = null
  #isKept = false
  #isClosed = false
  /** Whether the namespaces are being made, or were. */
  #isMade = false

  /**
   * `loopback`: also keeps a network namespace with a loopback and nothing else, around the others. Default `false`. `inTurn`: when they are
   * made. Default: at once.
   */
  constructor(
    program: string,
    {
      limits,
      loopback = false,
      cgroups,
      inTurn = (work) => work(),
    }: {
      readonly limits: ProgramLimits
      readonly loopback?: boolean
      readonly cgroups?: CgroupPlaces | undefined
      readonly inTurn?: InTurn | undefined
    },
  ) {
    this.#program = program
    this.#limits = limits
    this.#cgroups = cgroups
    this.#inTurn = inTurn
    this.#nsenter = loopback ? (NSENTER.find((path) => existsSync(path)) ?? null) : null
  }

  /** Why the programs of the namespaces that `open` gave were all ended, as a line; `null` when they were not. */
  stopped({ init }: Pick<HeldNamespaces, 'init'>): string | null {
    return this.#stopped.get(init) ?? null
  }

  /** @throws HermesError `environment.no_isolation` when this machine does not allow it, `environment.closed` after `close`. */
  async open(): Promise<HeldNamespaces> {
    const holding = await this.#living()
    const user = openSync(`/proc/${holding.init}/ns/user`, 'r')
    try {
      this.processes = readlinkSync(`/proc/${holding.init}/ns/pid`)
      return {
        user,
        pid: openSync(`/proc/${holding.init}/ns/pid`, 'r'),
        init: holding.init,
        loopback: holding.loopback,
        enter: holding.group?.enter ?? [],
      }
    } catch (error) {
      closeSync(user)
      throw noIsolation(String(error), error)
    }
  }

  /** What runs in the namespaces goes on when the agent dies, but for what others end then. */
  async keep(): Promise<void> {
    this.#isKept = true
    const holding = await this.#holding?.catch(() => null)
    if (holding) tellToKeep(holding)
  }

  /** However many commands ask at once, one that has ended is replaced once. */
  async #living(): Promise<Holding> {
    for (let isRenewed = false; ; isRenewed = true) {
      this.#holding ??= this.#hold()
      const current = this.#holding
      const holding = await current.catch((error: unknown) => {
        if (this.#holding === current) this.#holding = null
        throw error
      })
      // One that was stopped takes a moment to end.
      const isOver = this.#stopped.has(holding.init) || processStartTime(holding.init) !== holding.startTime
      if (!isOver || isRenewed) return holding
      if (this.#holding !== current) continue
      closeAll(holding.outer)
      this.#holding = null
    }
  }

  async #hold(): Promise<Holding> {
    const held = await this.#inTurn(async () => {
      if (this.#isClosed)
        throw new HermesError('This environment is closed; open another one.', { code: 'environment.closed' })
      this.#isMade = true
      return hold(this.#program, this.#nsenter)
    })
    const group = openCgroup(this.#limits, this.#cgroups)
    const holding = { ...held, group }
    const { init, startTime, child } = holding
    group?.add(init)
    if (this.#isKept) tellToKeep(holding)
    const stop = (why: string) => {
      this.#stopped.set(init, why)
      if (processStartTime(init) === startTime) process.kill(init, 'SIGKILL')
    }
    const unwatch = watchLimits(init, this.#limits, { stop, found: () => reap(child) })
    child.once('exit', () => {
      unwatch()
      const why = group?.killed()
      if (why && !this.#stopped.has(init)) this.#stopped.set(init, why)
      group?.remove()
    })
    return holding
  }

  /** Ends everything in the namespaces, or with `keepProcesses` lets it end by itself. None are made afterwards. */
  async close(keepProcesses: boolean): Promise<void> {
    this.#isClosed = true
    // Those whose turn has not come are never made, so that nobody waits for it.
    if (!this.#isMade) return
    const holding = await this.#holding?.catch(() => null)
    if (!holding) return
    closeAll(holding.outer)
    const { child, init, startTime } = holding
    if (keepProcesses) tellToKeep(holding)
    child.stdin?.end()
    reap(child)
    if (keepProcesses || processStartTime(init) !== startTime) return
    // Whoever closes waits for the end, however little else there is to do.
    child.ref()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    process.kill(init, 'SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await ended
  }
}

interface Holding {
  readonly child: ChildProcess
  /** The first process of the namespace, as this machine counts. */
  readonly init: number
  readonly startTime: string
  readonly loopback: readonly string[] | null
  /** What the kernel limits their programs by; `null` where it does not. */
  readonly group: Cgroup | null
  /** The namespaces around, kept open. */
  readonly outer: number[]
}

type Around = Pick<Holding, 'loopback' | 'outer'>

const NO_LOOPBACK: Around = { loopback: null, outer: [] }

/** Namespaces that others are made in: a user's, and a network's with a loopback alone. They stay for as long as they are open here. */
async function openLoopback(program: string, nsenter: string): Promise<Around> {
  const args = ['--unshare-user', '--unshare-net', '--cap-drop', 'ALL', '--dev-bind', '/', '/', '--info-fd', '3']
  const { child, init } = await start([program, ...args, '--', '/bin/sh', '-c', 'echo ready; read -r line'], isReady)
  const outer: number[] = []
  try {
    for (const name of ['user', 'net']) outer.push(openSync(`/proc/${init}/ns/${name}`, 'r'))
  } catch (error) {
    closeAll(outer)
    throw error
  } finally {
    child.stdin?.end()
  }
  const [user, net] = outer.map((descriptor) => `/proc/${process.pid}/fd/${descriptor}`)
  return { outer, loopback: [nsenter, `--user=${user}`, `--net=${net}`, '--preserve-credentials', '--'] }
}

function closeAll(descriptors: number[]): void {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
}

/** Without a loopback to share, which some machines do not allow, each command without the network has one of its own. */
async function hold(program: string, nsenter: string | null): Promise<Omit<Holding, 'group'>> {
  const around = nsenter === null ? null : await openLoopback(program, nsenter).catch(() => null)
  if (around === null) return holdWithin(program, NO_LOOPBACK)
  try {
    return await holdWithin(program, around)
  } catch {
    closeAll(around.outer)
    return holdWithin(program, NO_LOOPBACK)
  }
}

async function holdWithin(program: string, around: Around): Promise<Omit<Holding, 'group'>> {
  const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
  // Every command sees this process, and through it its files: it has none but programs. It has no /dev of its own either, which would
  // take a further user namespace in between.
  const programs = PROGRAMS.flatMap((folder) => ['--ro-bind-try', folder, folder])
  const args = [...namespaces, ...programs, '--proc', '/proc', '--info-fd', '3', '--block-fd', '4']
  const launch = [...(around.loopback ?? []), program, ...args, '--', '/bin/sh', '-c', HOLD]
  const { child, init } = await start(launch, hasUsers)
  return { loopback: around.loopback, outer: [...around.outer], child, init, startTime: processStartTime(init) ?? '' }
}

function tellToKeep({ child }: Holding): void {
  child.stdin?.write('kept\n')
}

/**
 * Has bubblewrap start the program of the namespaces, and reap what its parents have left. Until then it holds them open by itself: that is one
 * start less for commands that are over at once.
 */
function reap(child: ChildProcess): void {
  ;(child.stdio[4] as Writable | null)?.end('\n')
}

/** Whether its program runs. */
function isReady(_init: number, output: string): boolean {
  return output !== ''
}

/** Whether the users of its namespace are known, so that other programs can enter it. */
function hasUsers(init: number): boolean {
  try {
    return readFileSync(`/proc/${init}/gid_map`, 'utf8') !== ''
  } catch {
    return false
  }
}

type IsSetUp = (init: number, output: string) => boolean

async function start(
  [program = '', ...args]: readonly string[],
  isSetUp: IsSetUp,
): Promise<Pick<Holding, 'child' | 'init'>> {
  const child = spawn(program, args, {
    cwd: '/',
    env: { PATH },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  for (const input of [child.stdin, child.stdio[4]]) input?.on('error', () => undefined)
  const info = child.stdio[3] as Readable
  const init = await started(child, info, isSetUp)
  for (const part of [child, child.stdin, child.stdout, child.stderr, info, child.stdio[4]])
    (part as unknown as { unref?: () => void } | null)?.unref?.()
  return { child, init }
}

/** The first process of the namespaces, once they are set up: its number alone is told before that. */
function started(child: ChildProcess, info: Readable, isSetUp: IsSetUp): Promise<number> {
  return new Promise((resolve, reject) => {
    const [texts, outputs, errors]: [string[], string[], string[]] = [[], [], []]
    let isOver = false
    const look = () => {
      const pid = /"child-pid":\s*(\d+)/.exec(texts.join(''))?.[1]
      if (isOver || pid === undefined) return
      if (isSetUp(Number(pid), outputs.join(''))) {
        isOver = true
        resolve(Number(pid))
      } else setTimeout(look, SETTLE_POLL_MS)
    }
    child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
    child.stdout?.on('data', (chunk: Buffer) => outputs.push(chunk.toString()))
    info.on('data', (chunk: Buffer) => {
      texts.push(chunk.toString())
      look()
    })
    const fail = (error: HermesError) => {
      isOver = true
      reject(error)
    }
    child.once('error', (error) => fail(noIsolation('bubblewrap is not installed', error)))
    child.once('close', () => fail(noIsolation(errors.join('').trim().split('\n').at(-1) || 'bubblewrap ended', null)))
  })
}

function noIsolation(why: string, cause: unknown): HermesError {
  return new HermesError(
    `Commands cannot be isolated on this machine: ${why.replace(/^bwrap: /, '').replace(/\.$/, '')}.`,
    {
      code: 'environment.no_isolation',
      ...(cause === null ? {} : { cause }),
    },
  )
}
