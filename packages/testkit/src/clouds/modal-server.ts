import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { ModalClientParams } from 'modal'
import { Machine } from './machine.js'
import { type CallContext, type Message, modalProtocol, type ServiceDefinition } from './modal-protocol.js'
import { type CloudServer, Gate } from './service.js'

const TOKEN_ID = 'ak-of-test'
const TOKEN_SECRET = 'as-of-test'
const BASE_IMAGE = 'im-base'
const SUCCESS = 1
const TERMINATED = 3
/** The codes of gRPC for those of HTTP that tests name. */
const CODES: Readonly<Record<number, number>> = { 401: 16, 402: 8, 403: 7, 404: 5, 409: 6, 429: 8, 500: 13, 503: 14 }
const ALREADY_EXISTS = 6
const NOT_FOUND = 5
const UNAUTHENTICATED = 16

interface Definition {
  readonly imageId: string
  readonly name?: string
  readonly timeoutSecs: number
  readonly idleTimeoutSecs?: number
  readonly resources?: { readonly milliCpu?: number; readonly memoryMb?: number; readonly memoryMbMax?: number }
}

/** What a sandbox was made with. */
interface Facts extends Definition {
  readonly tags: Readonly<Record<string, string>>
}

interface Kept {
  readonly id: string
  readonly machine: Machine
  readonly facts: Facts
}

/** A command that was started, and what it printed so far. */
interface Execution {
  readonly child: ReturnType<Machine['launch']>['child']
  readonly output: Record<'stdout' | 'stderr', Buffer>
  readonly ended: Promise<number>
  readonly taskId: string
  isOver: boolean
  written: number
  /** Wakes who waits for output. */
  news: PromiseWithResolvers<void>
}

/** Modal's control plane and command router on loopback, speaking the protocol of the package `modal`. */
export interface ModalServer extends CloudServer, Required<Pick<ModalClientParams, 'tokenId' | 'tokenSecret'>> {
  facts(name: string): Facts | undefined
  /** Snapshots there are. */
  snapshots(): readonly string[]
  /** Loses all snapshots, as when they expire. */
  forgetSnapshots(): void
}

/** Starts the service on a free port of loopback; `close()` ends it with all its sandboxes. */
export async function startModalServer(): Promise<ModalServer> {
  const { grpc, ModalClientDefinition, TaskCommandRouterDefinition } = modalProtocol()
  const root = mkdtempSync('/tmp/hermes-modal-')
  const sandboxes = new Map<string, Kept>()
  const images = new Map<string, string | null>([[BASE_IMAGE, null]])
  const executions = new Map<string, Execution>()
  const requests: string[] = []
  const faults: { what: RegExp; status: number; message: string; left: number }[] = []
  const gate = new Gate()
  let count = 0
  const refuse = (code: number, message: string) => new grpc.ServerError(code, message)

  const running = (id: string): Kept => {
    const kept = sandboxes.get(id)
    if (!kept?.machine.isRunning) throw refuse(NOT_FOUND, `Sandbox ${id} is not running.`)
    return kept
  }
  const ofTask = (taskId: string) => running(taskId.replace(/^ta-/, ''))
  const routerAccess = (port: number) => ({ url: `https://127.0.0.1:${port}`, jwt: jwt(), workerIpv4Address: '' })
  const front = await listenInFront()

  const control = {
    authTokenGet: async () => ({ token: jwt() }),
    appGetOrCreate: async () => ({ appId: 'ap-1' }),
    environmentGetOrCreate: async () => ({
      environmentId: 'en-1',
      metadata: { name: 'main', settings: { imageBuilderVersion: '2025.06' } },
    }),
    imageGetOrCreate: async () => ({ imageId: BASE_IMAGE, result: { status: SUCCESS } }),
    async imageFromId({ imageId }: { imageId: string }) {
      if (!images.has(imageId)) throw refuse(NOT_FOUND, `Image ${imageId} not found.`)
      return { imageId }
    },
    async imageDelete({ imageId }: { imageId: string }) {
      images.delete(imageId)
      return {}
    },
    async sandboxCreateV2({
      definition,
      tags,
    }: {
      definition: Definition
      tags: readonly { tagName: string; tagValue: string }[]
    }) {
      if (named(sandboxes, definition.name))
        throw refuse(ALREADY_EXISTS, `A sandbox named ${definition.name} is running.`)
      const id = `sb-${count++}-of-test`
      // Its home is where that of the one before was, as in any sandbox of the same image.
      const machine = new Machine(join(root, `home-${definition.name}`))
      const snapshot = images.get(definition.imageId)
      if (snapshot) cpSync(snapshot, machine.home, { recursive: true })
      const facts = {
        ...definition,
        tags: Object.fromEntries(tags.map(({ tagName, tagValue }) => [tagName, tagValue])),
      }
      sandboxes.set(id, { id, machine, facts })
      return { sandboxId: id, taskId: `ta-${id}`, tunnels: [], commandRouterAccess: routerAccess(front.port) }
    },
    async sandboxGetFromNameV2({ sandboxName }: { sandboxName: string }) {
      const kept = named(sandboxes, sandboxName)
      if (!kept) throw refuse(NOT_FOUND, `No sandbox named ${sandboxName}.`)
      return { sandboxId: kept.id }
    },
    async sandboxGetFromName({ sandboxName }: { sandboxName: string }): Promise<Message> {
      throw refuse(NOT_FOUND, `No sandbox named ${sandboxName}.`)
    },
    async sandboxGetTaskIdV2({ sandboxId }: { sandboxId: string }) {
      const kept = sandboxes.get(sandboxId)
      return kept?.machine.isRunning ? { taskId: `ta-${sandboxId}` } : { taskResult: { status: TERMINATED } }
    },
    async sandboxGetCommandRouterAccess({ sandboxId }: { sandboxId: string }) {
      running(sandboxId)
      return routerAccess(front.port)
    },
    async sandboxTerminateV2({ sandboxId }: { sandboxId: string }) {
      sandboxes.get(sandboxId)?.machine.remove()
      sandboxes.delete(sandboxId)
      return {}
    },
  }

  const router = {
    async taskExecStart(request: { taskId: string; execId: string; commandArgs: readonly string[]; workdir?: string }) {
      if (executions.has(request.execId)) return {}
      executions.set(request.execId, execute(ofTask(request.taskId).machine, request))
      return {}
    },
    async taskExecStdinWrite({
      execId,
      offset,
      data,
      eof,
    }: {
      execId: string
      offset: number
      data: Uint8Array
      eof: boolean
    }) {
      const execution = executions.get(execId)!
      // A request that was made again brings what is there already.
      const fresh = data.subarray(Math.max(0, execution.written - offset))
      execution.written += fresh.length
      if (fresh.length > 0) execution.child.stdin.write(fresh)
      if (eof) execution.child.stdin.end()
      return {}
    },
    async *taskExecStdioRead({
      execId,
      offset,
      fileDescriptor,
    }: {
      execId: string
      offset: number
      fileDescriptor: number
    }) {
      const execution = executions.get(execId)
      if (!execution) throw refuse(NOT_FOUND, `No execution ${execId}.`)
      const stream = fileDescriptor === 0 ? 'stdout' : 'stderr'
      for (let at = Number(offset); ; ) {
        const news = execution.news.promise
        const data = execution.output[stream].subarray(at)
        at += data.length
        if (data.length > 0) yield { data }
        else if (execution.isOver) return
        else await news
      }
    },
    async taskExecWait({ execId }: { execId: string }) {
      const execution = executions.get(execId)
      if (!execution) throw refuse(NOT_FOUND, `No execution ${execId}.`)
      const code = await execution.ended
      ofTask(execution.taskId)
      return { code }
    },
    async taskSnapshotFilesystem({ taskId }: { taskId: string }) {
      const { machine } = ofTask(taskId)
      const imageId = `im-snapshot-${count++}`
      cpSync(machine.home, join(root, imageId), { recursive: true })
      images.set(imageId, join(root, imageId))
      return { imageId }
    },
  }

  const server = grpc.createServer().use(async function* (call, context) {
    const line = call.method.path
    requests.push(line)
    await gate.pass()
    const fault = faults.find(({ what, left }) => left > 0 && what.test(line))
    if (fault) {
      fault.left--
      throw refuse(CODES[fault.status] ?? 2, fault.message)
    }
    if (line.includes('modal.client.ModalClient')) checkAccess(context, refuse)
    return yield* call.next(call.request, context)
  })
  server.add(part(ModalClientDefinition, control), control as never)
  server.add(part(TaskCommandRouterDefinition, router), router as never)
  front.leadTo(await server.listen('127.0.0.1:0'))

  const stopAll = () => {
    for (const { machine } of sandboxes.values()) machine.remove()
    sandboxes.clear()
  }
  return {
    ...{ url: `http://127.0.0.1:${front.port}`, tokenId: TOKEN_ID, tokenSecret: TOKEN_SECRET, requests },
    fail: (what, { status, message, times = 1 }) => void faults.push({ what, status, message, left: times }),
    cut: ({ stay = false } = {}) => front.cut(stay),
    hold: () => gate.shut(),
    repair() {
      faults.length = 0
      gate.open()
      front.repair()
    },
    // A sandbox of this cloud that ends is gone with its files.
    stopMachines: stopAll,
    removeMachines: stopAll,
    sandboxes: () => [...sandboxes.values()].map(({ facts }) => facts.name ?? ''),
    facts: (name) => named(sandboxes, name)?.facts,
    snapshots: () => [...images.keys()].filter((id) => id !== BASE_IMAGE),
    forgetSnapshots() {
      for (const id of images.keys()) if (id !== BASE_IMAGE) images.delete(id)
    },
    async close() {
      gate.open()
      stopAll()
      server.forceShutdown()
      await front.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** A token that says how long it is good, and nothing else. */
function jwt(): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'none' }), part({ exp: Math.floor(Date.now() / 1000) + 3_600 }), 'of-test'].join('.')
}

/** A service with those methods alone that are handled. */
function part(definition: ServiceDefinition, handlers: object): ServiceDefinition {
  const methods = Object.entries(definition.methods).filter(([name]) => name in handlers)
  return { ...definition, methods: Object.fromEntries(methods) }
}

function checkAccess({ metadata }: CallContext, refuse: (code: number, message: string) => Error): void {
  const isKnown = metadata.get('x-modal-token-id') === TOKEN_ID && metadata.get('x-modal-token-secret') === TOKEN_SECRET
  if (!isKnown) throw refuse(UNAUTHENTICATED, 'Token ID is malformed or unknown.')
}

const named = (sandboxes: ReadonlyMap<string, Kept>, name: string | undefined): Kept | undefined =>
  [...sandboxes.values()].find(({ facts, machine }) => machine.isRunning && facts.name === name)

function execute(
  machine: Machine,
  { taskId, commandArgs, workdir }: { taskId: string; commandArgs: readonly string[]; workdir?: string },
): Execution {
  const [program = '', ...args] = commandArgs
  const output = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => {
    output[stream] = Buffer.concat([output[stream], chunk])
    wake()
  }
  const { child, ended } = machine.launch({ program, args, cwd: workdir || undefined, onOutput })
  const exitCode = ended.then((ran) => {
    execution.isOver = true
    wake()
    return ran.exitCode
  })
  const news = Promise.withResolvers<void>()
  const execution: Execution = { child, output, ended: exitCode, taskId, isOver: false, written: 0, news }
  const wake = () => {
    execution.news.resolve()
    execution.news = Promise.withResolvers()
  }
  return execution
}

/** A port that leads to the server and can be cut off from it. */
async function listenInFront() {
  const sockets = new Set<Socket>()
  let target = 0
  let isCut = false
  const front = createServer((near) => {
    const remote = connect(target, '127.0.0.1')
    for (const socket of [near, remote]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        sockets.delete(socket)
        near.destroy()
        remote.destroy()
      })
    }
    if (isCut) near.destroy()
    near.pipe(remote).pipe(near)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    port: (front.address() as AddressInfo).port,
    leadTo: (port: number) => {
      target = port
    },
    cut(stay: boolean) {
      isCut = stay
      for (const socket of sockets) socket.destroy()
    },
    repair: () => {
      isCut = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => front.close(resolve))
    },
  }
}
