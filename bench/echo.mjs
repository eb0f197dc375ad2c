// How long a key takes to the screen, in a real terminal, at rest and while a tool floods its output.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BIN, interleave } from './measure.mjs'
import { openTerminal } from './pty.mjs'
import { atMost, row } from './report.mjs'

const KEYS = 120
const KEYS_PER_LINE = 30
/** Apart by an uneven time, so that keys meet every phase of a frame. */
const PAUSES_MS = [23, 31, 37, 41]
const FLOOD = { turns: 1, tool: 'terminal', args: { command: 'timeout 60 yes flooding the terminal with output' } }

/** Keystroke to echo, p50 and p99: a bare echo program, a conversation at rest, one whose tool floods. */
export async function keystrokeEcho({ rounds, workspace, server }) {
  const hermes = [BIN, '--base-url', server.baseUrl, '--provider', 'custom', '-m', 'bench', '--yolo']
  const { floor, rest, flood } = await interleave(rounds, {
    floor: () => timeKeys(workspace, [join(import.meta.dirname, 'floors/echo.mjs')], { ready: 'ready' }),
    rest: () => timeKeys(workspace, hermes, { ready: 'help' }),
    flood: async () => {
      await server.script({ ...FLOOD, text: 'Done.' })
      return timeKeys(workspace, hermes, {
        ready: 'help',
        first: 'Flood.\r',
        begun: 'flooding the terminal with output\u001B',
      })
    },
  })
  const rows = (title, samples, limit) => [
    row(
      `${title} p50`,
      'ms',
      samples.map((times) => percentile(times, 0.5)),
    ),
    row(
      `${title} p99`,
      'ms',
      samples.map((times) => percentile(times, 0.99)),
      limit,
    ),
  ]
  return [
    ...rows('key to echo: bare program', floor),
    ...rows('key to echo: at rest', rest),
    ...rows('key to echo: tool floods output', flood, atMost(8)),
  ]
}

/** Types single keys into `node ARGS` in a terminal of its own; milliseconds until each was shown. */
async function timeKeys(workspace, args, { ready, first, begun }) {
  const terminal = openTerminal(workspace, args)
  try {
    await terminal.shows(ready)
    if (first) {
      terminal.type(first)
      await terminal.shows(begun)
    }
    const times = []
    for (let index = 0; index < KEYS; index++) {
      if (index % KEYS_PER_LINE === 0) terminal.type('\u0015')
      await sleep(PAUSES_MS[index % PAUSES_MS.length])
      // Each line of keys is another letter: what is waited for was never on the screen before.
      const letter = String.fromCharCode(65 + index / KEYS_PER_LINE)
      const shown = letter.repeat((index % KEYS_PER_LINE) + 1)
      const startedMs = performance.now()
      const echoed = terminal.shows(args.length === 1 ? letter : ` ${shown}\u001B`)
      terminal.type(letter)
      await echoed
      times.push(performance.now() - startedMs)
    }
    return times
  } finally {
    await terminal.close()
  }
}

function percentile(times, share) {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
