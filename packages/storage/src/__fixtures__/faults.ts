import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { missingPrograms } from '@hermes/testkit/daemons'

/** What the machine lacks to make a disk fail on purpose; `null` when it can. */
export function faultsMissing(): string | null {
  return process.platform === 'linux' ? missingPrograms('cc') : 'LD_PRELOAD as Linux has it'
}

/** Compiles `faults.c` into `folder`; what a process gets in its environment to be under its faults. */
export function buildFaults(folder: string): { readonly LD_PRELOAD: string } {
  const library = join(folder, 'faults.so')
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(import.meta.dirname, 'faults.c'), '-ldl', '-lpthread'])
  return { LD_PRELOAD: library }
}
