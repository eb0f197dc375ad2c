import { createReadStream, existsSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type CloudServer, type Kept, Refused, type Request, sendJson, serveCloud } from './service.js'

const TOKEN = 'vercel-token-of-test'
const TEAM = 'team_of_test'
const PROJECT = 'prj_of_test'
const START_MS = 1

/** What the service keeps about a sandbox. */
interface Facts {
  readonly name: string
  readonly persistent: boolean
  readonly runtime: string
  readonly vcpus: number
  readonly timeout: number
  readonly tags: Record<string, string>
  session: number
  expiresAt: number
}

/** The sandbox API of Vercel on loopback, for the package `@vercel/sandbox`. @see its api-client and validators */
export interface VercelServer extends CloudServer {
  readonly token: string
  readonly teamId: string
  readonly projectId: string
  /** What the SDK takes as `fetch`: the service's own address leads here. */
  readonly fetch: typeof fetch
  /** What a sandbox was made with. */
  facts(name: string): Readonly<Facts> | undefined
}

/** Starts the service on a free port of loopback; `close()` ends it with all its sandboxes. */
export async function startVercelServer(): Promise<VercelServer> {
  // A test may put the one below in its place.
  const ownFetch = fetch
  const sandboxes = new Map<string, Kept<Facts>>()
  const server = await serveCloud<Facts>({
    sandboxes,
    refusal: ({ message, code }) => ({ error: { code, message } }),
    async answer(request, response, newMachine) {
      checkAccess(request)
      const { method, path } = request
      const at = /^\/api\/v[23]\/sandboxes(?:\/(sessions\/)?([^/]+)(?:\/(.+))?)?$/.exec(path)
      if (!at) throw new Refused(404, `no such endpoint: ${path}`, 'not_found')
      const [, sessions, name, rest = ''] = at
      if (name === undefined && method === 'GET') return sendJson(response, listOf(sandboxes))
      if (name === undefined) return create(request, response, sandboxes, newMachine())
      if (sessions === undefined) return ofSandbox(request, response, sandboxes, decodeURIComponent(name))
      const kept = [...sandboxes.values()].find(({ facts }) => sessionId(facts) === name)
      if (!kept?.machine.isRunning) throw new Refused(410, 'The sandbox was stopped.', 'sandbox_stopped')
      return ofSession(request, response, kept, rest)
    },
  })
  return {
    ...server,
    ...{ token: TOKEN, teamId: TEAM, projectId: PROJECT },
    fetch: (input, init) => ownFetch(String(input).replace('https://vercel.com', server.url), init),
    facts: (name) => sandboxes.get(name)?.facts,
  }
}

function checkAccess({ headers, query }: Request): void {
  if (headers.authorization !== `Bearer ${TOKEN}`) throw new Refused(401, 'The token is not valid.', 'unauthorized')
  if (query.get('teamId') !== TEAM) throw new Refused(403, 'Not authorized for this team.', 'forbidden')
}

async function create(
  request: Request,
  response: ServerResponse,
  sandboxes: Map<string, Kept<Facts>>,
  machine: Kept<Facts>['machine'],
): Promise<void> {
  const requested = request.json() as Partial<Facts> & {
    readonly projectId?: string
    readonly resources?: { readonly vcpus: number }
  }
  const { name = '', persistent = true, runtime = 'node24', timeout = 300_000, tags = {}, resources } = requested
  if (requested.projectId !== PROJECT) throw new Refused(403, 'Not authorized for this project.', 'forbidden')
  if (sandboxes.has(name)) throw new Refused(409, 'There is a sandbox with that name.', 'conflict')
  const facts = {
    name,
    persistent,
    runtime,
    timeout,
    tags,
    vcpus: resources?.vcpus ?? 2,
    session: 0,
    expiresAt: Date.now() + timeout,
  }
  sandboxes.set(name, { machine, facts })
  sendJson(response, described(sandboxes.get(name)!))
}

async function ofSandbox(
  { method, query }: Request,
  response: ServerResponse,
  sandboxes: Map<string, Kept<Facts>>,
  name: string,
): Promise<void> {
  const kept = sandboxes.get(name)
  if (!kept) throw new Refused(404, 'Sandbox not found.', 'not_found')
  if (method === 'DELETE') {
    kept.machine.remove()
    sandboxes.delete(name)
    return sendJson(response, { sandbox: sandboxOf(kept) })
  }
  const resumes = query.get('resume') === 'true' && !kept.machine.isRunning
  if (resumes) {
    kept.machine.start()
    kept.facts = { ...kept.facts, session: kept.facts.session + 1, expiresAt: Date.now() + kept.facts.timeout }
  }
  sendJson(response, { ...described(kept), resumed: resumes })
}

async function ofSession(request: Request, response: ServerResponse, kept: Kept<Facts>, rest: string): Promise<void> {
  const { machine, facts } = kept
  switch (rest) {
    case 'cmd':
      return runCommand(request, response, kept)
    case 'fs/write': {
      const { child, ended } = machine.launch({
        program: 'tar',
        args: ['-xzpf', '-', '-C', String(request.headers['x-cwd'] ?? '/')],
      })
      child.stdin.end(request.body)
      const { exitCode, stderr } = await ended
      if (exitCode !== 0) throw new Refused(400, stderr.toString('utf8'), 'bad_request')
      return sendJson(response, {})
    }
    case 'fs/read': {
      const path = String(request.json()['path'])
      if (!existsSync(path)) throw new Refused(404, 'File not found.', 'not_found')
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      createReadStream(path).pipe(response)
      return
    }
    case 'extend-timeout':
      kept.facts = { ...facts, expiresAt: facts.expiresAt + Number(request.json()['duration']) }
      return sendJson(response, { session: sessionOf(kept) })
    case 'stop':
      machine.stop()
      return sendJson(response, { session: sessionOf(kept), sandbox: sandboxOf(kept) })
    default:
      throw new Refused(404, `no such endpoint: ${rest}`, 'not_found')
  }
}

/** The command first, then what it prints as text, at last how it ended; each on a line. */
async function runCommand(request: Request, response: ServerResponse, kept: Kept<Facts>): Promise<void> {
  const { command, args, cwd, env } = request.json() as {
    readonly command: string
    readonly args: readonly string[]
    readonly cwd?: string
    readonly env: Record<string, string>
  }
  const base = {
    ...{ id: `cmd_${Math.random().toString(36).slice(2)}`, name: command, args, cwd: cwd ?? kept.machine.home },
    ...{ sessionId: sessionId(kept.facts), startedAt: Date.now() },
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  const say = (value: unknown) => response.write(`${JSON.stringify(value)}\n`)
  say({ command: { ...base, exitCode: null } })
  const onOutput = (stream: string, chunk: Buffer) => say({ stream, data: chunk.toString('utf8') })
  const { exitCode } = await kept.machine.run({ program: command, args, cwd, env, onOutput })
  if (!kept.machine.isRunning) {
    say({ stream: 'error', data: { code: 'sandbox_stopped', message: 'Sandbox was stopped.' } })
  } else say({ command: { ...base, exitCode, durationMs: START_MS } })
  response.end()
}

const sessionId = ({ name, session }: Facts) => `sbx_${name}_${session}`

const listOf = (sandboxes: Map<string, Kept<Facts>>) => ({
  sandboxes: [...sandboxes.values()].map(sandboxOf),
  pagination: { count: sandboxes.size, next: null },
})

const described = (kept: Kept<Facts>) => ({ sandbox: sandboxOf(kept), session: sessionOf(kept), routes: [] })

function sandboxOf({ machine, facts }: Kept<Facts>) {
  const { name, persistent, runtime, vcpus, timeout, tags, expiresAt } = facts
  return {
    ...{ name, persistent, runtime, vcpus, memory: vcpus * 2048, timeout, tags, expiresAt, region: 'iad1' },
    ...{ createdAt: START_MS, updatedAt: START_MS, currentSessionId: sessionId(facts), cwd: machine.home },
    status: machine.isRunning ? 'running' : 'stopped',
  }
}

function sessionOf({ machine, facts }: Kept<Facts>) {
  const { runtime, vcpus, timeout } = facts
  return {
    ...{ id: sessionId(facts), memory: vcpus * 2048, vcpus, region: 'iad1', runtime, timeout, cwd: machine.home },
    ...{ requestedAt: START_MS, startedAt: START_MS, createdAt: START_MS, updatedAt: START_MS },
    status: machine.isRunning ? 'running' : 'stopped',
  }
}
