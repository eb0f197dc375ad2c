import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** The command lines of all processes of this machine, words joined by blanks; no program is needed for it on Linux. */
export function commandLines(): readonly string[] {
  if (process.platform !== 'linux') return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      } catch {
        return ''
      }
    })
}
