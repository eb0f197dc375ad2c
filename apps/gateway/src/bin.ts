#!/usr/bin/env node
// The first file that runs, also on Node versions the rest cannot load on: nothing here is newer than ES2020.
import * as nodeModule from 'node:module'

const REQUIRED = [22, 22]

async function start(): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < REQUIRED[0]! || (major === REQUIRED[0] && minor < REQUIRED[1]!)) {
    process.stderr.write(
      `hermes-gateway needs Node ${REQUIRED.join('.')} or newer; this is ${process.version}. Install a newer Node and try again.\n`,
    )
    process.exitCode = 1
    return
  }
  nodeModule.enableCompileCache?.()
  const { runProcess } = await import('./process.js')
  await runProcess()
}

void start()
