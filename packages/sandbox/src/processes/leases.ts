import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStartTime } from './process-tree.js'

/** A share in something that ends with its last user. */
export interface Lease {
  /** Gives the share back; `true` when nobody on this machine has another one. */
  release(): boolean
  /** Whether nobody on this machine has another one. */
  isAlone(): boolean
}

/** Takes a share in what `directory` stands for. Shares of programs that died do not count. */
export function takeLease(directory: string): Lease {
  const name = `${process.pid}-${processStartTime(process.pid) ?? ''}-${randomBytes(4).toString('hex')}`
  const path = join(directory, name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(path, '', { mode: 0o600 })
  return {
    release() {
      rmSync(path, { force: true })
      return readdirSync(directory).every((other) => !isHeld(directory, other))
    },
    isAlone: () => readdirSync(directory).every((other) => other === name || !isHeld(directory, other)),
  }
}

function isHeld(directory: string, name: string): boolean {
  const [pid, startTime] = name.split('-')
  if ((processStartTime(Number(pid)) ?? '') === startTime) return true
  rmSync(join(directory, name), { force: true })
  return false
}
