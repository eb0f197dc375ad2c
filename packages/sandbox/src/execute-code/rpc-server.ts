import { chmod } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'

const MAX_FRAME_BYTES = 16 * 1024 * 1024
const MAX_CONNECTIONS = 128
const NEWLINE = 10

/** One call of a program. Must not reject. */
type RpcHandler = (tool: string, args: JsonObject) => Promise<JsonValue>

/**
 * Answers calls on a Unix domain socket: a line of JSON `{"id"?, "tool", "args"}` each, answered by `{"id"?, "result"}`, in the order in
 * which they finish. What cannot be understood is answered with an error; a line without end closes its connection.
 */
export class RpcServer {
  readonly #server: Server
  readonly #connections = new Set<Socket>()
  #handler: RpcHandler

  private constructor(handler: RpcHandler) {
    this.#handler = handler
    this.#server = createServer((socket) => this.#serve(socket))
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** Listens at `path`, which only this user may open. */
  static async listen(path: string, handler: RpcHandler): Promise<RpcServer> {
    const rpc = new RpcServer(handler)
    await new Promise<void>((resolve, reject) => {
      rpc.#server.once('error', reject)
      rpc.#server.listen(path, resolve)
    })
    // One that cannot be accepted is the program's loss: it finds itself disconnected.
    rpc.#server.on('error', () => undefined)
    await chmod(path, 0o600)
    return rpc
  }

  /** Calls from now on go to `handler`. */
  handle(handler: RpcHandler): void {
    this.#handler = handler
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#connections) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#connections.delete(socket))
    let rest: Buffer[] = []
    let size = 0
    socket.on('data', (chunk: Buffer) => {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const piece = chunk.subarray(start, end)
        this.#answer(socket, rest.length === 0 ? piece : Buffer.concat([...rest, piece]))
        rest = []
        size = 0
        start = end + 1
      }
      if (start === chunk.length) return
      rest.push(chunk.subarray(start))
      size += chunk.length - start
      if (size > MAX_FRAME_BYTES) {
        rest = []
        socket.end(frame(undefined, { error: `A call is at most ${MAX_FRAME_BYTES} bytes; send less at once.` }))
        socket.removeAllListeners('data').resume()
      }
    })
  }

  #answer(socket: Socket, line: Buffer): void {
    const request = parse(line)
    if (typeof request === 'string') reply(socket, undefined, { error: request })
    else void this.#handler(request.tool, request.args).then((result) => reply(socket, request.id, result))
  }
}

interface Request {
  readonly id: JsonValue | undefined
  readonly tool: string
  readonly args: JsonObject
}

function parse(line: Buffer): Request | string {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    return 'A call is one line of JSON: {"tool": ..., "args": {...}}.'
  }
  if (!isJsonObject(value)) return 'A call is a JSON object: {"tool": ..., "args": {...}}.'
  const { id, tool, args = {} } = value
  if (typeof tool !== 'string') return 'A call needs the name of a tool as a text: {"tool": ..., "args": {...}}.'
  if (!isJsonObject(args)) return `The arguments of ${tool} must be an object with their names as keys.`
  return { id, tool, args }
}

/** A program that asks without listening for answers is not read from until it does. */
function reply(socket: Socket, id: JsonValue | undefined, result: JsonValue): void {
  if (socket.destroyed || socket.writableEnded) return
  if (socket.write(frame(id, result)) || socket.isPaused()) return
  socket.pause()
  socket.once('drain', () => socket.resume())
}

/** What is nested too deep to be written, the program's own `id` included, is its failure and nobody else's. */
function frame(id: JsonValue | undefined, result: JsonValue): string {
  try {
    return `${JSON.stringify({ ...(id === undefined ? {} : { id }), result })}\n`
  } catch {
    return `${JSON.stringify({ result: { error: 'The answer cannot be written as JSON: it is nested too deep.' } })}\n`
  }
}
