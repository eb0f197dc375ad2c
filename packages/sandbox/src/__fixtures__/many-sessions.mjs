// A stand-in for an agent of many sessions that is killed: tells the number of a command that its launcher started, and waits.
import { createLocalEnvironment, SharedPipes, SharedWatcher } from '../index.js'
import { testPermit } from '../testing/permit.js'

const [cwd] = process.argv.slice(2)
const [watcher, pipes] = [new SharedWatcher(), new SharedPipes(cwd)]
const sessions = Array.from({ length: 8 }, (_, index) =>
  createLocalEnvironment({
    ...{ cwd, home: cwd, outputDir: `${cwd}/${index}`, watcher, pipes },
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  }),
)
const run = (session, command, onOutput) => {
  const permit = testPermit({ type: 'spawn', command, cwd, backend: 'local' })
  return session.exec(permit, command, { onOutput })
}
await Promise.all(sessions.map((session) => run(session, 'true')))
let parent = process.pid
while (parent === process.pid) parent = Number((await run(sessions[0], 'echo $PPID')).output)
void run(sessions[0], 'echo "$$ $PPID"; sleep 60', (text) => process.stdout.write(`${text.trim()} ${parent}\n`))
