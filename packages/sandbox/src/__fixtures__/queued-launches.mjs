// A stand-in for an agent that is killed while programs it asked for were not started yet: one runs, and its launcher is stopped before it can
// look at the others. Tells the numbers of the launcher and of the one that runs.
import { join } from 'node:path'
import { Launcher } from '../local/launcher.js'
import { OrphanGuard } from '../local/orphan-guard.js'
import { OutputPipes, UnusedPipes } from '../shell/output-pipe.js'
import { REGISTER } from '../shell/shell-script.js'

const [cwd] = process.argv.slice(2)
const pipes = new OutputPipes(cwd, new UnusedPipes(join(cwd, 'pipes')))
const launcher = new Launcher(new OrphanGuard().channel())
const launch = async (command) => {
  const { path, reader } = await pipes.acquire()
  const args = ['-c', REGISTER, 'sh', '/bin/sh', '-c', command]
  void launcher.launch({ program: '/bin/sh', args, cwd, env: { PATH: '/usr/bin:/bin' }, output: path })
  return reader
}
const reader = await launch('echo "$PPID $$"; sleep 60')
reader.once('data', async (numbers) => {
  process.kill(Number.parseInt(numbers, 10), 'SIGSTOP')
  for (let number = 0; number < 20; number++) await launch('touch "ran-$$"; sleep 60')
  process.stdout.write(numbers)
})
