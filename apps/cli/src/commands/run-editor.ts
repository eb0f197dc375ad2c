import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'

/** The person's editor, `$VISUAL` or `$EDITOR`, in a terminal `vi`; `null` where none can be shown. */
export function editorOf(io: Pick<Io, 'env' | 'stdin' | 'stdout'>): string | null {
  return io.env['VISUAL'] || io.env['EDITOR'] || (io.stdin.isTTY && io.stdout.isTTY ? 'vi' : null)
}

/** Runs an editor on a file to its end. The variable may hold options too, so a shell reads it. @throws UsageError when it cannot be started or fails */
export async function runEditor(editor: string, file: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  const [code] = (await once(child, 'close').catch((error: unknown) => [String(error)])) as [number | string | null]
  if (code !== 0)
    throw new UsageError(`The editor (${editor}) failed, so nothing was changed. Set EDITOR to another one.`)
}
