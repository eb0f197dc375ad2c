import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorLine, HermesError } from '@hermes/contracts'

/** Where a browser comes back to after a login. */
interface Loopback {
  readonly redirectUri: string
  /** The query of the first redirect that `isOurs` takes. Rejects with an `AbortError`. */
  wait(signal?: AbortSignal): Promise<URLSearchParams>
  close(): void
}

const PATH = '/callback'

/**
 * Listens on 127.0.0.1 for one redirect (RFC 8252 section 7.3). Whatever else a browser or a page asks for is answered and forgotten.
 * @throws HermesError `oauth.port_taken`
 */
export async function openLoopback(options: {
  /** 0 takes a free one. */
  readonly port: number
  /** Whether a redirect belongs to the login that was started. */
  readonly isOurs: (query: URLSearchParams) => boolean
}): Promise<Loopback> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const query = queryOf(request)
    if (query === null) return answer(response, 404, 'There is nothing here.')
    if (!options.isOurs(query)) return answer(response, 400, 'This does not belong to the login that Hermes waits for.')
    answer(
      response,
      200,
      query.has('error') ? 'The login failed. Hermes says why.' : 'You are logged in. This window can be closed.',
    )
    resolve(query)
  })
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening').catch((cause: unknown) => {
    throw new HermesError(`Cannot wait for the browser on port ${options.port}: ${errorLine(cause)}.`, {
      code: 'oauth.port_taken',
      cause,
    })
  })
  // A login that nobody waits for keeps no process alive.
  server.unref()
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    wait: (signal) => {
      server.ref()
      return abortable(promise, signal)
    },
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
  }
}

function queryOf({ method, url }: IncomingMessage): URLSearchParams | null {
  // Any page can ask for anything, an address that is none too.
  const target = URL.parse(`http://127.0.0.1${url}`)
  return method === 'GET' && target?.pathname === PATH ? target.searchParams : null
}

function answer(response: ServerResponse, status: number, text: string): void {
  const headers = { 'content-type': 'text/html; charset=utf-8', connection: 'close', 'referrer-policy': 'no-referrer' }
  response.writeHead(status, headers).end(`<!doctype html><title>Hermes</title><p>${text}</p>`)
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject)
  })
}
