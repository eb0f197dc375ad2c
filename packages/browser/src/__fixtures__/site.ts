import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page, or what answers a request for it. */
export type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** A web site of this machine, and what was asked of it. */
export interface Site extends AsyncDisposable {
  readonly port: number
  /** `METHOD path body`, in their order. */
  readonly seen: string[]
  /** Names and values of the headers of all that came. */
  readonly headers: string[]
  pages: Record<string, Answer>
}

/** Serves pages on an address of the loopback network, on a free port unless one is named. */
export async function startSite(host: string, pages: Record<string, Answer> = {}, port = 0): Promise<Site> {
  const [seen, headers]: [string[], string[]] = [[], []]
  const server = createServer((request, response) => {
    let body = ''
    headers.push(...request.rawHeaders)
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => {
      const path = (request.url ?? '/').split('?')[0]!
      if (path !== '/favicon.ico') seen.push(`${request.method} ${request.url}${body === '' ? '' : ` ${body}`}`)
      const answer = site.pages[path]
      if (typeof answer === 'function') return answer(request, response)
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(answer ?? 'nothing')
    })
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  // Handshakes are told of, and refused.
  server.on('upgrade', (request, socket) => {
    seen.push(`UPGRADE ${request.url}`)
    headers.push(...request.rawHeaders)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  const site = {
    port: (server.address() as AddressInfo).port,
    seen,
    headers,
    pages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return site
}
