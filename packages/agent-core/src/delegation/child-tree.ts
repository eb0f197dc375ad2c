import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import { addUsage, noUsage, type Usage } from '@hermes/contracts/conversation'
import type { Agent } from '../agent.js'
import { byLocation, type ChildInfo, ChildNode, idOf, isBelow } from './child-node.js'
import type { ChildResult, ChildTask } from './child-task.js'
import { Slots } from './slots.js'

/** The delegated tasks of one agent and of all below it, as they are now. */
export interface Children {
  /** Parents before what they delegated. Of those that have ended the newest 50. */
  list(): readonly ChildInfo[]
  /** What all that has ended came to. */
  usage(): Usage
  /** Ends a task and all below it; it still gives its result. `false` when it is unknown or has ended. */
  kill(id: string, reason?: string): boolean
  /** Holds a task and all below it before their next model call or tool call; without `id` all there are and will be. `false` as for `kill`. */
  pause(id?: string): boolean
  /** Lets what was paused under that id go on. `false` when nothing was. */
  unpause(id?: string): boolean
  /** Tells a task something; `null` when it is unknown, has not begun or has ended. */
  steer(id: string, text: string): Promise<'delivered' | 'queued' | null>
  /** Told of each change; every 30 s of each task that runs. What it throws is logged. Returns how to stop. */
  watch(listener: (child: ChildInfo) => void): () => void
}

const KEPT_ENDED = 50

/** The tree that {@link Children} shows, as delegation fills it. One for each agent that a person talks to. */
export class ChildTree implements Children {
  readonly #nodes = new Map<string, ChildNode>()
  readonly #counts = new Map<string, number>()
  readonly #listeners = new Set<(child: ChildInfo) => void>()
  readonly #slots = new Map<string, Slots>()
  readonly #clock: Clock
  /** For what nobody waits to hear of. */
  readonly logger: Logger
  readonly #tracked = new Set<Promise<void>>()
  readonly #pauses = new Set<string>()
  #isPaused = false
  #total: Usage = noUsage

  constructor(options: { readonly clock?: Clock; readonly logger?: Logger } = {}) {
    this.#clock = options.clock ?? systemClock
    this.logger = options.logger ?? silentLogger
  }

  /** Announces a task of the agent at `parentPath`. */
  add(parentPath: readonly string[], task: ChildTask, isBackground: boolean): ChildNode {
    const parent = idOf(parentPath)
    const number = (this.#counts.get(parent) ?? 0) + 1
    this.#counts.set(parent, number)
    const path = [...parentPath, `task-${number}`]
    const node = new ChildNode({ path, task, isBackground, nowMs: this.#clock.now() })
    this.#nodes.set(node.id, node)
    this.changed(node)
    return node
  }

  /** Waits until the agent at `parentPath` may have one more at work; returns how to make room again. Abort rejects. */
  slot(parentPath: readonly string[], limit: number, signal: AbortSignal): Promise<() => void> {
    const parent = idOf(parentPath)
    let slots = this.#slots.get(parent)
    if (!slots) this.#slots.set(parent, (slots = new Slots()))
    return slots.take(limit, signal)
  }

  /** The task has an agent now. */
  attach(node: ChildNode, agent: Agent): void {
    node.agent = agent
    node.sessionId = agent.sessionId
    this.#pauseAgents()
    this.changed(node)
  }

  end(node: ChildNode, result: ChildResult): void {
    node.status = result.status
    node.endedAtMs = this.#clock.now()
    node.letGo?.()
    node.letGo = null
    const parent = this.#nodes.get(idOf(node.path.slice(0, -1)))
    if (parent) parent.delegated = addUsage(parent.delegated, node.total)
    else this.#total = addUsage(this.#total, node.total)
    this.changed(node)
    const ended = [...this.#nodes.values()].filter(({ status }) => status !== null)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) this.#nodes.delete(id)
  }

  /** What is at work or waits for it below `parentPath`. */
  unfinished(parentPath: readonly string[]): readonly ChildNode[] {
    return [...this.#nodes.values()].filter(({ path, status }) => status === null && isBelow(path, parentPath))
  }

  changed(node: ChildNode): void {
    for (const listener of this.#listeners) {
      try {
        listener(this.info(node))
      } catch (error) {
        this.logger.debug('Somebody who watches delegated tasks failed.', { error: errorLine(error) })
      }
    }
  }

  info(node: ChildNode): ChildInfo {
    const { id, task, isBackground, startedAtMs, endedAtMs, sessionId, agent } = node
    const activity = agent?.activity()
    return {
      id,
      goal: task.goal,
      role: task.role,
      isBackground,
      state: this.#stateOf(node),
      activity: endedAtMs === null ? (activity?.description ?? 'waiting') : '',
      sessionId,
      modelCalls: activity?.modelCalls ?? 0,
      toolCalls: activity?.toolCalls ?? 0,
      usage: node.total,
      startedAtMs,
      endedAtMs,
    }
  }

  #stateOf(node: ChildNode): ChildInfo['state'] {
    if (node.status !== null) return node.status
    if (this.#mustPause(node)) return 'paused'
    return node.agent ? 'running' : 'waiting'
  }

  #mustPause(node: ChildNode): boolean {
    if (this.#isPaused || this.#pauses.size > 0) return true
    return [...this.#nodes.values()].some((one) => one.isPaused && (one === node || isBelow(node.path, one.path)))
  }

  /** Agents are held or let go as the marks above them say. */
  #pauseAgents(): void {
    for (const node of this.#nodes.values()) {
      if (!node.agent || node.status !== null) continue
      const mustPause = this.#mustPause(node)
      if (mustPause && !node.letGo) node.letGo = node.agent.pause()
      if (mustPause || !node.letGo) continue
      node.letGo()
      node.letGo = null
    }
  }

  usage(): Usage {
    return this.#total
  }

  list(): readonly ChildInfo[] {
    return [...this.#nodes.values()]
      .sort((left, right) => byLocation(left.path, right.path))
      .map((node) => this.info(node))
  }

  kill(id: string, reason = 'The user ended it.'): boolean {
    const node = this.#open(id)
    if (!node) return false
    node.stop(reason)
    return true
  }

  pause(id?: string): boolean {
    return this.#mark(true, id)
  }

  unpause(id?: string): boolean {
    return this.#mark(false, id)
  }

  /** Pauses all there are and will be for a reason, whatever {@link pause} and {@link unpause} do meanwhile. */
  setPause(reason: string, isPaused: boolean): void {
    if (this.#pauses.has(reason) === isPaused) return
    if (isPaused) this.#pauses.add(reason)
    else this.#pauses.delete(reason)
    this.#pauseAgents()
    for (const node of this.#nodes.values()) if (node.status === null) this.changed(node)
  }

  #mark(isPaused: boolean, id?: string): boolean {
    const node = id === undefined ? null : this.#open(id)
    if (node === undefined) return false
    if ((node ? node.isPaused : this.#isPaused) === isPaused) return isPaused
    if (node) node.isPaused = isPaused
    else this.#isPaused = isPaused
    this.#pauseAgents()
    for (const one of node ? [node] : this.#nodes.values()) if (one.status === null) this.changed(one)
    return true
  }

  async steer(id: string, text: string): Promise<'delivered' | 'queued' | null> {
    return (await this.#open(id)?.agent?.steer(text)) ?? null
  }

  watch(listener: (child: ChildInfo) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #open(id: string): ChildNode | undefined {
    const node = this.#nodes.get(id)
    return node?.status === null ? node : undefined
  }

  /** Work that nobody waits for but {@link close}. It must not reject. */
  track(work: Promise<void>): void {
    this.#tracked.add(work)
    work.finally(() => this.#tracked.delete(work)).catch(() => undefined)
  }

  /** Ends everything; resolves once what nobody waits for has given its result, at most after `withinMs`. */
  async close(withinMs: number): Promise<void> {
    for (const node of this.#nodes.values()) if (node.status === null) node.stop('Hermes was closed.')
    if (this.#tracked.size === 0) return
    const ended = new AbortController()
    const late = this.#clock.sleep(withinMs, ended.signal).catch(() => undefined)
    await Promise.race([Promise.all(this.#tracked), late])
    ended.abort()
  }
}
