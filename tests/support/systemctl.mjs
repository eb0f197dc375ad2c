#!/usr/bin/env node
// A supervisor as far as `systemctl --user` is asked of here: it reads the unit that was written and does as that says. Its own state is in
// the folder beside itself. `supervise` is the process that a start leaves behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, self, ...args] = process.argv
const folder = join(self, '..')
const words = args.filter((word) => !word.startsWith('--'))
appendFileSync(join(folder, 'asked'), `${args.join(' ')}\n`)
const unit = join(process.env.HOME, '.config/systemd/user', words[1] ?? '')
const pidFile = join(folder, 'supervisor.pid')

const all = (text, key) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value)
const unquoted = (text) =>
  [...text.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word]) =>
    word.replaceAll('%%', '%').replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one)),
  )

async function supervise() {
  const text = readFileSync(unit, 'utf8')
  const command = unquoted(all(text, 'ExecStart')[0]).map((word) => word.replaceAll('$$', '$'))
  const env = Object.fromEntries(
    all(text, 'Environment').map((line) => {
      const [pair] = unquoted(line)
      return [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
    }),
  )
  const never = new Set(all(text, 'RestartPreventExitStatus')[0].split(' ').map(Number))
  let isStopped = false
  let child
  process.on('SIGTERM', () => {
    isStopped = true
    child.kill('SIGTERM')
  })
  for (;;) {
    child = spawn(command[0], command.slice(1), { cwd: all(text, 'WorkingDirectory')[0], env, stdio: 'ignore' })
    const [code, signal] = await once(child, 'exit')
    appendFileSync(join(folder, 'ended'), `${signal ?? code}\n`)
    if (isStopped || code === 0 || never.has(code)) break
  }
  rmSync(pidFile, { force: true })
}

function start() {
  if (existsSync(pidFile)) return
  const child = spawn(process.execPath, [self, 'supervise', words.at(-1)], { detached: true, stdio: 'ignore' })
  writeFileSync(pidFile, String(child.pid))
  child.unref()
}

function stop() {
  if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM')
}

const verbs = { supervise, start, stop, enable: start, disable: stop, 'daemon-reload': () => undefined }
await verbs[words[0]]()
