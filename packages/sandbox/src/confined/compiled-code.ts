import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'

/**
 * Where what a confined module loads for an argument is kept compiled, beside what this process keeps of its own code, and whether all of it is
 * there; `null` where this process keeps nothing.
 */
export interface CompiledCode {
  readonly folder: string
  readonly isWhole: boolean
}

/** What stands in the folder once all is there: a process that was ended on the way leaves a part. */
export const WHOLE = 'whole'

/** Never throws. */
export function compiledCodeOf(
  module: string,
  argument: string,
  kept: string | null = getCompileCacheDir() ?? null,
): CompiledCode | null {
  if (kept === null) return null
  const name = createHash('sha256').update(`${module}\n${argument}`).digest('hex').slice(0, 16)
  const folder = join(kept, `confined-${name}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    return null
  }
  return { folder, isWhole: existsSync(join(folder, WHOLE)) }
}
