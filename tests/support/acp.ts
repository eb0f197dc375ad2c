import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import {
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { cliEnv } from './cli.js'
import { withoutTitles } from './without-titles.js'

/** The built ACP server, as editors start it; HERMES_TEST_ACP names another build. */
export const ACP = process.env['HERMES_TEST_ACP'] ?? resolve(import.meta.dirname, '../../apps/acp/dist/bin.js')

/** How to start it. */
export interface AcpOptions {
  readonly home: string
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: {@link ACP}. */
  readonly program?: string
  /** Leaves the home as it is; otherwise {@link withoutTitles}. */
  readonly titles?: boolean
}

/** One line that went over the wire. */
export interface WireLine {
  readonly from: 'agent' | 'client'
  readonly line: string
}

/** A started server. */
export interface AcpProcess {
  readonly child: ChildProcess
  /** What was said on standard input and output so far, line by line. */
  readonly wire: readonly WireLine[]
  stderr(): string
  /** Writes text to its standard input as it is. */
  write(text: string): void
  /** Resolves with the first line of the server that `accepts`, earlier ones included. */
  line(accepts: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  /** Closes its standard input and waits for its end. */
  leave(): Promise<number | null>
}

/** Starts the server without saying anything. */
export function startAcp(args: readonly string[], options: AcpOptions): AcpProcess {
  if (!options.titles) withoutTitles(options.home)
  const child = spawn(process.execPath, [options.program ?? ACP, ...args], {
    cwd: options.cwd,
    env: cliEnv(options),
    stdio: 'pipe',
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const wire: WireLine[] = []
  const waiting = new Set<() => void>()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const log = (from: WireLine['from']) => {
    let rest = ''
    const decoder = new TextDecoder()
    return (chunk: Uint8Array) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) wire.push({ from, line })
      for (const look of waiting) look()
    }
  }
  child.stdout.on('data', log('agent'))
  const logInput = log('client')
  const line = (accepts: (message: Record<string, unknown>) => boolean) =>
    new Promise<Record<string, unknown>>((found, missing) => {
      const look = () => {
        const messages = wire.filter(({ from }) => from === 'agent').map((entry) => JSON.parse(entry.line))
        const message = messages.find(accepts)
        if (!message) return
        waiting.delete(look)
        found(message)
      }
      waiting.add(look)
      look()
      void closed.then(() => missing(new Error(`the server ended without it; stderr: ${stderr}`)))
    })
  return {
    child,
    wire,
    line,
    stderr: () => stderr,
    write: (text) => {
      logInput(new TextEncoder().encode(text))
      child.stdin.write(text)
    },
    leave: async () => {
      child.stdin.end()
      return (await closed)[0]
    },
  }
}

/** What an editor does when it is asked. */
export interface EditorBehaviour {
  readonly capabilities?: ClientCapabilities
  /** Default: the first option. */
  readonly permission?: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>
  readonly elicitation?: (request: CreateElicitationRequest) => CreateElicitationResponse
}

/** A client on the official SDK, greeted already. */
export interface Editor {
  readonly process: AcpProcess
  readonly agent: ClientContext
  readonly greeting: InitializeResponse
  /** Updates in the order they came. */
  readonly updates: readonly { readonly sessionId: string; readonly update: SessionUpdate }[]
  readonly permissions: readonly RequestPermissionRequest[]
  /** Resolves with the first update that `accepts`, earlier ones included. */
  update(accepts: (update: SessionUpdate) => boolean): Promise<SessionUpdate>
  /** Starts a session and gives its id. */
  newSession(cwd: string): Promise<string>
  prompt(sessionId: string, text: string): Promise<string>
  leave(): Promise<number | null>
}

/** Starts the server and greets it. */
export async function startEditor(
  args: readonly string[],
  options: AcpOptions,
  behaviour: EditorBehaviour = {},
): Promise<Editor> {
  const process = startAcp(args, options)
  const updates: { sessionId: string; update: SessionUpdate }[] = []
  const permissions: RequestPermissionRequest[] = []
  const waiting = new Set<() => void>()
  const app = client({ name: 'test editor' })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      permissions.push(params)
      if (behaviour.permission) return behaviour.permission(params)
      return { outcome: { outcome: 'selected', optionId: params.options[0]!.optionId } }
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => behaviour.elicitation!(params))
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params)
      for (const look of waiting) look()
    })
  const input = new WritableStream<Uint8Array>({
    write: (chunk) => process.write(new TextDecoder().decode(chunk)),
  })
  const output = Readable.toWeb(process.child.stdout as Readable) as ReadableStream<Uint8Array>
  const connection = app.connect(ndJsonStream(input, output))
  const greeting = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: behaviour.capabilities ?? {},
  })
  return {
    process,
    greeting,
    agent: connection.agent,
    updates,
    permissions,
    update: (accepts) =>
      new Promise((found) => {
        const look = () => {
          const entry = updates.find(({ update }) => accepts(update))
          if (!entry) return
          waiting.delete(look)
          found(entry.update)
        }
        waiting.add(look)
        look()
      }),
    newSession: async (cwd) =>
      (await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId,
    prompt: async (sessionId, text) =>
      (await connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }))
        .stopReason,
    leave: () => process.leave(),
  }
}

/** The text of all chunks of one kind, joined. */
export function agentText(
  updates: readonly { readonly update: SessionUpdate }[],
  kind: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk' = 'agent_message_chunk',
): string {
  return updates
    .map(({ update }) =>
      update.sessionUpdate === kind && 'content' in update && update.content && 'text' in update.content
        ? update.content.text
        : '',
    )
    .join('')
}
