// One life of a session: it begins or goes on, says yes to what is asked, waits for its task in the background, and ends when it has heard of
// it. Kills itself at the moment that it is given, if it comes to that.
import { watch } from 'node:fs'
import { openRuntime } from '@hermes/runtime'
import { createSessionHost } from '../index.ts'

const { home, cwd, path, dieAt } = JSON.parse(process.argv[2])

/** Writes down that this moment came, and dies of it. */
function reach(moment, id = '') {
  process.stdout.write(`${moment} ${id}\n`)
  if (moment === dieAt) process.kill(process.pid, 'SIGKILL')
}

const runtime = await openRuntime({ home, userHome: cwd, env: { PATH: path }, cwd, user: 'u', tempDir: cwd })
const { sessions } = await runtime.storage()
const isNew = (await sessions.get('mortal')) === null
const host = createSessionHost({ runtime })
const woken = []
const onWakeUp = (turn) => {
  reach('woken')
  woken.push(turn.result)
}
const session = host.open({ sessionId: 'mortal', platform: 'cli', permissions: 'park', onWakeUp })
const reader = await session.subscribe()
void listen()
watch(cwd, (_, name) => name === 'effects.log' && reach('command')).unref()

let result = await session.send(isNew ? 'Begin.' : { resume: true }).result
for (;;) {
  if (result.status === 'parked') {
    reach('parked', result.pending[0])
    await session.answer(result.pending[0], 'once', 'u')
    reach('answered')
    result = await session.send({ resume: true }).result
  } else if (result.text === 'All heard.') break
  else result = await nextWakeUp()
}
await host.close()
await runtime.close()

async function listen() {
  for await (const { event } of reader) {
    if (event.type === 'tool-start' && event.toolName === 'delegate_task') reach('delegated')
    if (event.type === 'background-end') reach('ended')
  }
}

async function nextWakeUp() {
  while (woken.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  return woken.shift()
}
