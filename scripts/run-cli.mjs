// node scripts/run-cli.mjs ARGS: runs the built CLI in the caller's directory, building it first when sources are newer.
// Exits as the CLI does: its code, or 128 plus the signal that ended it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { bundle } from './build.mjs'
import { isStale, writeStamp } from './stale.mjs'

const root = resolve(import.meta.dirname, '..')
const bin = join(root, 'apps/cli/dist/bin.js')

// Not the time of bin.js: a build whose result came from turbo's cache leaves that as it was.
const stamp = join(root, 'node_modules/.cache/hermes/cli-built')

if (!existsSync(bin) || isStale(root, stamp)) buildCli()

const child = spawn(process.execPath, [bin, ...process.argv.slice(2)], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  // How a person starts it here, for lines that say what to run next.
  env: { ...process.env, HERMES_COMMAND: 'npx -y pnpm@12 hermes' },
})
// A terminal sends Ctrl-C to the whole process group, so the CLI has it already; other signals are passed on.
const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => forward(signal))
child.on('error', (error) => {
  console.error(`Cannot start ${bin}: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))

function forward(signal) {
  if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal)
}

function buildCli() {
  const startedMs = Date.now()
  console.error(`Building Hermes (${existsSync(stamp) ? 'sources changed' : 'first run'})…`)
  if (!bundle(root, '@hermes/cli')) process.exit(1)
  writeStamp(stamp, startedMs)
}
