import { readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { dirname } from 'node:path'

/** Messages are plain objects; what is left out has its default. */
export type Message = Readonly<Record<string, unknown>>

/** What a call came with. */
export interface CallContext {
  readonly metadata: { get(name: string): string | undefined }
  readonly signal: AbortSignal
}

/** A service as its generated code describes it. */
export interface ServiceDefinition {
  readonly methods: Readonly<Record<string, unknown>>
}

type Handler = (request: never, context: CallContext) => Promise<Message> | AsyncIterable<Message>

interface Call {
  readonly method: { readonly path: string }
  readonly request: unknown
  next(request: unknown, context: CallContext): AsyncGenerator<unknown, unknown>
}

interface GrpcServer {
  add(definition: ServiceDefinition, handlers: Readonly<Record<string, Handler>>): void
  listen(address: string): Promise<number>
  forceShutdown(): void
}

/** What is used of nice-grpc. */
interface Grpc {
  createServer(): {
    use(middleware: (call: Call, context: CallContext) => AsyncGenerator<unknown, unknown>): GrpcServer
  }
  readonly ServerError: new (code: number, details: string) => Error
}

/**
 * The protocol as the package `modal` itself speaks it: its service definitions, which it does not export, and the gRPC library it comes
 * with.
 */
export function modalProtocol() {
  const file = createRequire(import.meta.url).resolve('modal')
  const names = ['ModalClientDefinition', 'TaskCommandRouterDefinition'] as const
  const loaded = new Module(file) as Module & { _compile(code: string, file: string): void; paths: string[] }
  loaded.filename = file
  loaded.paths = (Module as unknown as { _nodeModulePaths(from: string): string[] })._nodeModulePaths(dirname(file))
  loaded._compile(`${readFileSync(file, 'utf8')}\nmodule.exports = { ${names.join(', ')} };`, file)
  const definitions = loaded.exports as Readonly<Record<(typeof names)[number], ServiceDefinition>>
  return { ...definitions, grpc: createRequire(file)('nice-grpc') as Grpc }
}
