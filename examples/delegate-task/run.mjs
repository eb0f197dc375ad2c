// node examples/delegate-task/run.mjs [OPTIONS OF hermes chat]: see README.md beside this file. Needs a built CLI (`npx -y pnpm@12 demo`
// builds it). Without options the model is a stand-in that hands out three tasks and reads what comes back; all else is real.
// Exit codes: those of hermes chat.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runHermes } from '../stand-in.mjs'

const SERVICES = ['billing', 'search', 'mail']
const TASK =
  'Each folder here holds the log of a service. Hand each to an agent of its own that finds the first error and its cause, then name the service to look at first.'

const folder = mkdtempSync(join(tmpdir(), 'hermes-example-'))
try {
  for (const [index, service] of SERVICES.entries()) writeLog(join(folder, service), index)
  process.exitCode = await runHermes({ task: TASK, folder, options: process.argv.slice(2), answer })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A log of some 80 KB with one error in it. */
function writeLog(directory, index) {
  mkdirSync(directory)
  const lines = Array.from(
    { length: 1_500 },
    (_, line) => `12:${String(line % 60).padStart(2, '0')} INFO request ${line} took ${line % 90} ms`,
  )
  lines[500 + index * 300] = `12:30 ERROR disk ${index} is full, ${index * 40 + 3} requests lost`
  writeFileSync(join(directory, 'service.log'), `${lines.join('\n')}\n`)
}

/** The stand-in: the same model is the agent and those it hands tasks to, told apart by their system text. */
function answer(messages) {
  const isHelper = String(messages[0].content).startsWith('You were started by another agent')
  return isHelper ? helper(messages) : leader(messages)
}

function leader(messages) {
  const last = messages.at(-1)
  const tasks = SERVICES.map((service) => ({
    goal: `Find the first error in ${service}/service.log and say what caused it.`,
    context: 'One line is enough. The word ERROR marks an error.',
  }))
  if (last.role !== 'tool') return { calls: [{ name: 'delegate_task', args: { tasks } }] }
  const lost = [...last.content.matchAll(/Task (\d) completed.*?(\d+) requests lost/gs)]
  const [, worst] = lost.toSorted((left, right) => right[2] - left[2])[0]
  return { text: `Look at ${SERVICES[worst - 1]} first. What was found:\n\n${last.content}` }
}

function helper(messages) {
  const last = messages.at(-1)
  const path = /in (\S+\.log)/.exec(JSON.stringify(messages))[1]
  if (last.role !== 'tool') return { calls: [{ name: 'search_files', args: { pattern: 'ERROR', path } }] }
  return { text: /ERROR .* lost/.exec(last.content)[0] }
}
