// The parent's side of ./server.mjs.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Starts the server process. `close()` ends it; so does the end of this process. */
export async function startServer() {
  const child = fork(join(import.meta.dirname, 'server.mjs'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [{ host, port }] = await once(child, 'message')
  const ask = async (message) => {
    const answered = once(child, 'message')
    child.send(message)
    return (await answered)[0]
  }
  return {
    baseUrl: `http://${host}:${port}/v1`,
    /** @param {{ turns: number, tool?: string, args?: object, calls?: object[], text?: string, branches?: object[] }} script forgets the requests so far */
    script: (script) => ask({ type: 'script', ...script }),
    /** @returns {Promise<{ atMs: number, body: string, answer: string }[]>} the requests since the last script, oldest first */
    requests: async () => (await ask({ type: 'take' })).requests,
    // A server that died on the way must not keep the rest from being stopped.
    close: () => child.connected && child.disconnect(),
  }
}
