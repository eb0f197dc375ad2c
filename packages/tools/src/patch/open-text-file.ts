import type { FileStat } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { permitRead } from '../files/file-access.js'
import { missingFile } from '../files/similar-names.js'
import { decodeText, type TextFormat } from '../files/text-format.js'

const MAX_FILE_BYTES = 20_000_000

/** A text file as it is on disk. */
export interface TextFile {
  /** The path as the model gave it. */
  readonly requested: string
  readonly path: string
  /** With links followed. */
  readonly real: string
  readonly stat: FileStat
  readonly text: string
  readonly format: TextFormat
}

/** Reads a file that is to be edited; a line for the model when it cannot be. @throws HermesError `policy.denied`. */
export async function openTextFile(requested: string, context: ToolContext): Promise<TextFile | string> {
  const { environment } = context
  const path = environment.resolve(requested)
  const real = await permitRead(context, path)
  const stat = await environment.stat(real)
  if (!stat) return missingFile(environment, path)
  if (stat.type !== 'file') return `${path} is not a regular file, so it cannot be patched.`
  if (stat.sizeBytes > MAX_FILE_BYTES)
    return `${path} has ${stat.sizeBytes} bytes, too many for patch; edit it with a command in terminal.`
  const bytes = await environment.read(real, { noLinks: true })
  if (!bytes) return missingFile(environment, path)
  const decoded = decodeText(bytes)
  if (!decoded) return `${path} is not UTF-8 text, so an edit could damage it; use a command in terminal.`
  return { requested, path, real, stat, ...decoded }
}
