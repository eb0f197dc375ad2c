// Figures of the server for Prometheus: what it answered and how fast, what waits, how the process and the platforms are doing.
import type { Histogram, Registry } from 'prom-client'
import { failedConnects, type PlatformReport } from './platforms/platform-health.js'
import type { Load } from './slots.js'

const MS_PER_S = 1_000
/** Answers of models take from milliseconds to minutes. */
const BUCKETS_S = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600]

/** What the figures are read from when they are asked for. */
interface FigureSources {
  /** Chat requests and runs. */
  readonly load: () => Load
  readonly platforms: () => readonly PlatformReport[]
  /** Unix milliseconds. */
  readonly now: () => number
}

/** One request that was answered, whole or not. */
interface Answered {
  readonly method: string
  /** The route, not the address: addresses hold ids. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** Counts what is answered. The library is loaded after the first answer, so that no start waits for it. */
export class Figures {
  readonly #sources: FigureSources
  #open: Promise<{ readonly registry: Registry; readonly times: Histogram<'method' | 'route' | 'code'> }> | null = null

  constructor(sources: FigureSources) {
    this.#sources = sources
  }

  async count({ method, route, status, ms }: Answered): Promise<void> {
    const { times } = await this.#library()
    times.observe({ method, route, code: String(status) }, ms / MS_PER_S)
  }

  /** All of them, and the type of that text. */
  async text(): Promise<{ readonly text: string; readonly type: string }> {
    const { registry } = await this.#library()
    return { text: await registry.metrics(), type: registry.contentType }
  }

  #library() {
    this.#open ??= this.#load()
    return this.#open
  }

  async #load() {
    const { collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const registers = [registry]
    const { load, platforms, now } = this.#sources
    new Gauge({
      name: 'hermes_requests',
      help: 'Chat requests and runs by what they do: under_way or waiting.',
      labelNames: ['state'],
      registers,
      collect() {
        const { underWay, waiting } = load()
        this.set({ state: 'under_way' }, underWay)
        this.set({ state: 'waiting' }, waiting)
      },
    })
    new Gauge({
      name: 'hermes_platform_heard_age_seconds',
      help: 'How long ago a chat platform was last known to deliver; -1 for never.',
      labelNames: ['platform', 'state'],
      registers,
      collect() {
        this.reset()
        for (const { name, state, heardAtMs } of platforms())
          this.set({ platform: name, state: state.type }, heardAtMs === null ? -1 : (now() - heardAtMs) / MS_PER_S)
      },
    })
    new Gauge({
      name: 'hermes_platform_failed_connects',
      help: 'How many tries in a row to connect to a chat platform came to nothing.',
      labelNames: ['platform'],
      registers,
      collect() {
        this.reset()
        for (const report of platforms()) this.set({ platform: report.name }, failedConnects(report))
      },
    })
    new Gauge({
      name: 'hermes_platform_failed_sends',
      help: 'How many sends in a row a chat platform did not answer, once they are too many to go on; else 0.',
      labelNames: ['platform'],
      registers,
      collect() {
        this.reset()
        for (const { name, sending } of platforms())
          this.set({ platform: name }, sending?.type === 'broken' ? sending.failures : 0)
      },
    })
    const times = new Histogram({
      name: 'hermes_http_request_seconds',
      help: 'Requests by how long they took, to the last byte of their answer.',
      labelNames: ['method', 'route', 'code'],
      buckets: BUCKETS_S,
      registers,
    })
    return { registry, times }
  }
}
