import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { Machine } from './machine.js'
import { type CloudServer, type Kept, Refused, type Request, sendJson, serveCloud } from './service.js'

const API_KEY = 'daytona-key-of-test'
const BOUNDARY = 'daytona-of-test'

/** What the service keeps about a sandbox. */
interface Facts {
  readonly id: string
  readonly name: string
  readonly labels: Record<string, string>
  readonly cpu?: number
  readonly memory?: number
  readonly disk?: number
  readonly autoStopInterval?: number
  readonly autoDeleteInterval?: number
  readonly snapshot?: string
  readonly buildInfo?: { readonly dockerfileContent: string }
}

/** The API of Daytona and the toolbox of its sandboxes on loopback, for the package `@daytona/sdk`. @see its api-client packages */
export interface DaytonaServer extends CloudServer {
  readonly apiKey: string
  readonly apiUrl: string
  /** What a sandbox was made with. */
  facts(name: string): Readonly<Facts> | undefined
}

/** Starts the service on a free port of loopback; `close()` ends it with all its sandboxes. */
export async function startDaytonaServer(): Promise<DaytonaServer> {
  const sandboxes = new Map<string, Kept<Facts>>()
  const server = await serveCloud<Facts>({
    sandboxes,
    refusal: ({ status, message, code }) => ({ statusCode: status, message, code, source: 'DAYTONA_API' }),
    async answer(request, response, newMachine) {
      if (request.headers.authorization !== `Bearer ${API_KEY}`) throw new Refused(401, 'Invalid credentials')
      const { method, path, headers } = request
      const base = `http://${headers.host}`
      const [, part, id, rest = ''] = /^\/(api\/sandbox|toolbox)(?:\/([^/]+)(?:\/(.*))?)?$/.exec(path) ?? []
      if (part === undefined) throw new Refused(404, `Cannot ${method} ${path}`)
      if (part === 'toolbox') return toolbox(request, response, runningMachine(sandboxes, id), rest)
      if (id === undefined && method === 'GET') {
        const items = [...sandboxes.values()].map((kept) => described(kept, base))
        return sendJson(response, { items, total: items.length, nextCursor: null })
      }
      if (id === undefined) return sendJson(response, described(create(request, sandboxes, newMachine()), base))
      const kept = find(sandboxes, decodeURIComponent(id))
      if (method === 'DELETE') {
        kept.machine.remove()
        sandboxes.delete(kept.facts.name)
      }
      if (rest === 'start') kept.machine.start()
      if (rest === 'stop') stop(sandboxes, kept)
      sendJson(response, { ...described(kept, base), ...(method === 'DELETE' ? { state: 'destroyed' } : {}) })
    },
  })
  return {
    ...server,
    apiKey: API_KEY,
    apiUrl: `${server.url}/api`,
    facts: (name) => sandboxes.get(name)?.facts,
  }
}

function create(request: Request, sandboxes: Map<string, Kept<Facts>>, machine: Machine): Kept<Facts> {
  const requested = request.json() as unknown as Facts
  if (sandboxes.has(requested.name)) throw new Refused(409, `Sandbox with name ${requested.name} already exists`)
  const kept = { machine, facts: { ...requested, id: `id-${requested.name}` } }
  sandboxes.set(requested.name, kept)
  return kept
}

/** One that is to be removed at once when it stops is. */
function stop(sandboxes: Map<string, Kept<Facts>>, { machine, facts }: Kept<Facts>): void {
  machine.stop()
  if (facts.autoDeleteInterval !== 0) return
  machine.remove()
  sandboxes.delete(facts.name)
}

function find(sandboxes: Map<string, Kept<Facts>>, idOrName: string): Kept<Facts> {
  const kept = [...sandboxes.values()].find(({ facts }) => facts.id === idOrName || facts.name === idOrName)
  if (!kept) throw new Refused(404, `Sandbox with ID or name ${idOrName} not found`)
  return kept
}

function runningMachine(sandboxes: Map<string, Kept<Facts>>, id = ''): Machine {
  const { machine } = find(sandboxes, id)
  if (!machine.isRunning) throw new Refused(400, `bad request: sandbox ${id} is not started`)
  return machine
}

async function toolbox(request: Request, response: ServerResponse, machine: Machine, what: string): Promise<void> {
  switch (what) {
    case 'process/execute': {
      const requested = request.json() as {
        readonly command: string
        readonly cwd?: string
        readonly envs?: Record<string, string>
      }
      const { exitCode, stdout, stderr } = await machine.run({
        program: '/bin/sh',
        args: ['-c', requested.command],
        cwd: requested.cwd,
        env: requested.envs ?? {},
      })
      if (!machine.isRunning) throw new Refused(502, 'sandbox container is not running')
      return sendJson(response, { exitCode, result: Buffer.concat([stdout, stderr]).toString('utf8') })
    }
    case 'files/bulk-upload': {
      const form = await new Response(new Uint8Array(request.body), {
        headers: { 'content-type': String(request.headers['content-type']) },
      }).formData()
      for (let index = 0; form.has(`files[${index}].path`); index++) {
        const file = form.get(`files[${index}].file`) as Blob
        writeFileSync(String(form.get(`files[${index}].path`)), new Uint8Array(await file.arrayBuffer()))
      }
      return sendJson(response, {})
    }
    case 'files/bulk-download': {
      const { paths } = request.json() as { readonly paths: readonly string[] }
      response.writeHead(200, { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` })
      for (const path of paths) {
        const head = `Content-Disposition: form-data; name="file"; filename="${path}"\r\nContent-Type: application/octet-stream`
        response.write(`--${BOUNDARY}\r\n${head}\r\n\r\n`)
        response.write(readFileSync(path))
        response.write('\r\n')
      }
      response.end(`--${BOUNDARY}--\r\n`)
      return
    }
    default:
      throw new Refused(404, `no such endpoint: ${what}`)
  }
}

function described({ machine, facts }: Kept<Facts>, base: string) {
  const { id, name, labels, cpu = 1, memory = 1, disk = 3, autoStopInterval = 15, autoDeleteInterval = -1 } = facts
  return {
    ...{
      id,
      name,
      labels,
      cpu,
      memory,
      disk,
      autoStopInterval,
      autoDeleteInterval,
      gpu: 0,
      public: false,
      target: 'us',
    },
    ...{ organizationId: 'org', user: 'daytona', env: {}, networkBlockAll: false, recoverable: false },
    state: machine.isRunning ? 'started' : 'stopped',
    toolboxProxyUrl: `${base}/toolbox`,
  }
}
