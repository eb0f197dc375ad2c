// A stand-in for an agent that is killed: starts a background process, a program that is spoken to and a foreground command, tells their
// numbers, and waits. With a third argument these are isolated, with a fourth there is no background process.
import { createLocalEnvironment } from '../local/local-environment.js'
import { testPermit } from '../testing/permit.js'

const [cwd, outputDir, isolated, alone] = process.argv.slice(2)
const environment = createLocalEnvironment({
  ...{ cwd, outputDir, home: cwd, env: { PATH: '/usr/local/bin:/usr/bin:/bin' } },
  ...(isolated ? { isolation: {} } : {}),
})
const permit = (command) => testPermit({ type: 'spawn', command, cwd, backend: 'local' })

const server = 'echo up; sleep 60 & read line; echo "input ended"; while [ ! -e stop ]; do sleep 0.05; done; echo down; exit 7'
const background = alone ? null : await environment.spawn(permit(server), server)
const programPermit = permit("sh -c 'echo $$; sleep 63'")
const program = await environment.startProgram(programPermit, { argv: ['sh', '-c', 'echo $$; sleep 63'] })
const [number] = (await program.stdout[Symbol.asyncIterator]().next()).value.toString().split('\n')
const foreground = 'echo "foreground $$"; sleep 61 & sleep 62'
void environment.exec(permit(foreground), foreground, {
  onOutput: (text) => process.stdout.write(`${text.trim()} background ${background?.info().id} program ${number}\n`),
})
