#!/usr/bin/env node
// The first file that runs, also on Node versions the rest cannot load on: nothing here is newer than ES2020.
import { keepCompiledCode } from '@hermes/runtime/app/keep-code'
import { refuseOldNode } from '@hermes/runtime/app/old-node'

async function start(): Promise<void> {
  if (refuseOldNode(process, 'hermes-acp')) return
  keepCompiledCode(process)
  const [{ runApp }, { main }] = await Promise.all([import('@hermes/runtime/app'), import('./main.js')])
  await runApp(process, main)
}

void start()
