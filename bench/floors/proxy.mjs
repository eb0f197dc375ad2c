// node bench/floors/proxy.mjs BASE_URL: the floor of a gateway. Hands each request on to BASE_URL and the answer back, nothing else.
// Prints its address.
import { Agent, createServer, request } from 'node:http'

const target = new URL(process.argv[2])
const agent = new Agent({ keepAlive: true })

const server = createServer((incoming, response) => {
  const { hostname, port } = target
  const { method, url: path, headers } = incoming
  const outgoing = request({ hostname, port, path, method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers)
    answer.pipe(response)
  })
  incoming.pipe(outgoing)
})
process.on('SIGTERM', () => process.exit(0))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`proxy: http://127.0.0.1:${server.address().port}/v1`))
