import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { groupExists } from '../processes/process-tree.js'
import { START_LINE, scriptLine } from '../remote/shell-text.js'
import { programScript } from './remote-program.js'

/** The script as the other side runs it, and how to lose the way there. */
function open(command: string) {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-program-'))
  const pipe = join(folder, 'pipe')
  const child = spawn('/bin/sh', ['-c', START_LINE], { cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true })
  // A program may close its input before all of it is written.
  child.stdin.on('error', () => undefined)
  onTestFinished(() => {
    if (groupExists(child.pid!)) process.kill(-child.pid!, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const remote = { cwd: folder, env: { PATH: '/usr/bin:/bin' }, inherited: [] }
  child.stdin.write(scriptLine(programScript(['sh', '-c', command], remote, 'mark', pipe)))
  // What comes together may come in one piece, and what comes before anybody reads must not be lost.
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece
  })
  const all = once(child.stdout, 'end').then(() => output)
  const isUp = () => expect.poll(() => output, { timeout: 30_000 }).toContain('up\n')
  return { child, pipe, exit: once(child, 'exit'), all, isUp }
}

it('ends a program and what it started when the way there is lost', async () => {
  const { child, exit, isUp } = open('trap "" TERM; sleep 60 >&2 & echo up; cat; sleep 60')
  await isUp()
  child.stdin.destroy()
  await exit
  while (groupExists(child.pid!)) await new Promise((resolve) => setTimeout(resolve, 10))
})

it('lets a program go on that was told the end of its input', async () => {
  const { child, pipe, exit, all, isUp } = open('echo up; cat; sleep 0.2; echo done; exit 3')
  await isUp()
  writeFileSync(`${pipe}.end`, '')
  child.stdin.end('bytes\n')
  expect([await all, (await exit)[0]]).toEqual(['up\nbytes\ndone\n', 3])
})

it('lets a program go on that closes its input itself', async () => {
  const { child, exit, all, isUp } = open('exec 0<&-; echo up; sleep 0.2; echo done; exit 3')
  await isUp()
  child.stdin.write('more than a pipe takes'.repeat(10_000))
  expect([await all, (await exit)[0]]).toEqual(['up\ndone\n', 3])
})
