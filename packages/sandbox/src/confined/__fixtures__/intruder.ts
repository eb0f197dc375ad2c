import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'

const tries: Readonly<Record<string, (target: string) => unknown>> = {
  echo: (target) => target.toUpperCase(),
  read: (target) => readFileSync(target, 'utf8'),
  write: (target) => writeFileSync(target, 'changed'),
  run: () => spawnSync('/bin/sh', ['-c', 'echo ran']).stdout.toString(),
  compiled: () => {
    const folder = getCompileCacheDir()
    if (folder === undefined) return 'nothing'
    try {
      writeFileSync(join(folder, 'planted'), '')
      return 'written'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  },
  variables: () => Object.keys(process.env),
  connect: (target) =>
    new Promise((resolve, reject) => connect(Number(target), '127.0.0.1').once('connect', resolve).once('error', reject)),
  fill: () => Array.from({ length: 10_000 }, () => Buffer.alloc(1_000_000, 1)).length,
  talk: () => 'x'.repeat(2_000_000),
  hang: () => {
    for (;;);
  },
}

/** What a parser could be made to do. */
export const confined = (bytes: Uint8Array, attempt: string) => tries[attempt]!(new TextDecoder().decode(bytes))
