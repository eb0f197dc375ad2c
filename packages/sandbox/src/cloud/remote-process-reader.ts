import { type Clock, HermesError } from '@hermes/contracts'
import type { RemoteHost } from '../remote/remote-host.js'
import { runScript } from '../remote/run-script.js'
import { askRemoteProcess } from './remote-process-scripts.js'

/** The way to the other side, as far as a job needs it. */
export type RemoteProcessWay = Pick<RemoteHost, 'connect' | 'converse' | 'failure' | 'name'>

/** What is new of a job. */
interface RemoteProcessNews {
  readonly output: Buffer
  readonly isOver: boolean
  /** `null` when nobody knows it: the machine there was stopped, or somebody ended the job's keeper. */
  readonly exitCode: number | null
}

const PASSED_OVER = '\n[Some output is missing here: more came than could be fetched in time.]\n'
const FIRST_PAUSE_MS = 200

/** What a reader is made for. */
interface ReaderOptions {
  readonly folder: string
  readonly position: number
  /** Whether the folder goes once all is told. */
  readonly tidy: boolean
  /** How often a question is put before its failure counts. */
  readonly tries: number
}

/** Follows what a job prints, from a position on. A request that fails for a passing reason is made again: the job is asked, not run. */
export class RemoteProcessReader {
  readonly #way: RemoteProcessWay
  readonly #clock: Clock
  readonly #remoteProcess: ReaderOptions
  #position: number

  constructor(way: RemoteProcessWay, clock: Clock, remoteProcess: ReaderOptions) {
    this.#way = way
    this.#clock = clock
    this.#remoteProcess = remoteProcess
    this.#position = remoteProcess.position
  }

  /** Asks what is new, waiting over there for up to `ticks` twentieths of a second. `before` is run first, with `input` as its input. */
  async next(ticks: number, before = '', input?: Uint8Array): Promise<RemoteProcessNews> {
    const { folder, tidy, tries } = this.#remoteProcess
    const script = `${before}${askRemoteProcess({ folder, position: this.#position, ticks, tidy })}`
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#read(await runScript(this.#way, script, input))
      } catch (error) {
        if (attempt >= tries || !HermesError.isInstance(error) || !error.retryable) throw error
        await this.#clock.sleep(FIRST_PAUSE_MS * 2 ** attempt)
      }
    }
  }

  #read({ ok, stdout, stderr }: Awaited<ReturnType<typeof runScript>>): RemoteProcessNews {
    if (!ok && stderr.includes('HERMES:no_setsid')) throw lacksSetsid(this.#way.name)
    const end = stdout.indexOf(10)
    const [, at, state, code] = /^(\d+) (\w+) (-|\d+)$/.exec(stdout.toString('latin1', 0, Math.max(end, 0))) ?? []
    if (at === undefined) throw this.#way.failure(null, stderr)
    const fresh = stdout.subarray(end + 1)
    const isWhole = Number(at) === this.#position
    this.#position = Number(at) + fresh.length
    return {
      output: isWhole ? fresh : Buffer.concat([Buffer.from(PASSED_OVER), fresh]),
      isOver: state !== 'running',
      exitCode: code === '-' ? null : Number(code),
    }
  }
}

function lacksSetsid(name: string): HermesError {
  return new HermesError(`${name} has no program setsid; use an image with util-linux or busybox.`, {
    code: 'environment.unusable',
  })
}
