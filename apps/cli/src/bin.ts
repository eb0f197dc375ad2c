#!/usr/bin/env node
// The first file that runs, also on Node versions the rest cannot load on: nothing here is newer than ES2020.
import { keepCompiledCode } from '@hermes/runtime/app/keep-code'
import { refuseOldNode } from '@hermes/runtime/app/old-node'
import { openEarlyLine, withEarlyLine } from './start/early-line.js'

async function start(): Promise<void> {
  if (refuseOldNode(process, 'hermes')) return
  const argument = process.argv[2]
  if (process.argv.length === 3 && (argument === '--version' || argument === '-V')) {
    process.stdout.write(`${__HERMES_VERSION__}\n`)
    return
  }
  const early = openEarlyLine(process)
  keepCompiledCode(process)
  const [{ runApp }, { main }] = await Promise.all([import('@hermes/runtime/app'), import('./main.js')])
  await runApp(process, (argv, io) => main(argv, withEarlyLine(io, early)))
}

declare const __HERMES_VERSION__: string

void start()
