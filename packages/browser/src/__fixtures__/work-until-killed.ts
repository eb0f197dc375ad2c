// node work-until-killed.ts FOLDER ADDRESS [BACKEND VARIABLES [SESSIONS]]: does tasks on pages, a line for each; ends what it has once its input ends, and itself with the next line.
import { once } from 'node:events'
import type { BrowserSettings } from '../settings.js'
import { openScene } from './scene.js'

const [, , folder = '', address = '', backend = 'local', variables = '{}', sessions = '3'] = process.argv
const scene = await openScene(folder, JSON.parse(variables))
scene.settings = { ...scene.settings, backend: backend as BrowserSettings['backend'] }
let isOver = false
process.stdin.once('end', () => {
  isOver = true
})
process.stdin.resume()
for (let task = 0; !isOver; task++) {
  const session = `s${task % Number(sessions)}`
  try {
    const text = await scene.call('browser_navigate', { url: address }, session)
    const ref = /\[(e\d+)\] textbox/.exec(text)?.[1]
    await scene.call('browser_type', { ref, text: `task ${task}` }, session)
    process.stdout.write('done\n')
  } catch (error) {
    process.stdout.write(`failed ${(error as Error).message.split('\n')[0]}\n`)
  }
}
await scene[Symbol.asyncDispose]()
process.stdout.write('closed\n')
// What is left of it can be looked at now; unlike timers and sockets, a signal ends it in any state.
setInterval(() => undefined, 1_000)
await once(process, 'SIGTERM')
process.exit(0)
