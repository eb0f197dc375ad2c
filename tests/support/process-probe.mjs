// node --import tests/support/process-probe.mjs …: answers on a loopback port, written to HERMES_TEST_PROBE_FILE, what the process holds after a collection.
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const file = process.env.HERMES_TEST_PROBE_FILE
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

/** What V8 compiled, and what it knows about that. */
const CODE = /^(?:code|trusted)_/

function held() {
  collect()
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  const code = getHeapSpaceStatistics().filter(({ space_name: name }) => CODE.test(name))
  const codeUsed = code.reduce((sum, { space_used_size: used }) => sum + used, 0)
  const resources = {}
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  return { heapUsed, codeUsed, rss, resources, listeners, descriptors: readdirSync('/proc/self/fd').length }
}

if (file) {
  delete process.env.HERMES_TEST_PROBE_FILE
  // Each answer on a connection of its own, which is gone by the next one.
  const server = createServer((_request, response) => {
    response.setHeader('connection', 'close')
    response.end(JSON.stringify(held()))
  })
  server.listen(0, '127.0.0.1', () => writeFileSync(file, String(server.address().port)))
  server.unref()
}
