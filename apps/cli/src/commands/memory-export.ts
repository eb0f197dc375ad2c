import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine, isJsonObject } from '@hermes/contracts'
import type { MemoryTarget } from '@hermes/memory'
import { UsageError } from '../errors.js'

const FORM = 'It has to be what hermes memory export prints: {"memory": [texts], "user": [texts]}.'
/** The stores of a home hold thousands of times less. */
const MAX_BYTES = 10_000_000

/** What `hermes memory export` printed into a file, named from `cwd`. @throws UsageError for what is something else. */
export async function readMemoryExport(
  file: string,
  cwd: string,
): Promise<Readonly<Record<MemoryTarget, readonly string[]>>> {
  const parsed = parse(file, await readText(file, resolve(cwd, file)))
  const list = (target: MemoryTarget): readonly string[] => {
    const entries = parsed[target] ?? []
    if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === 'string'))
      throw new UsageError(`"${target}" in ${file} is not a list of texts. ${FORM}`)
    return entries
  }
  return { memory: list('memory'), user: list('user') }
}

/** A device or a pipe may never end. */
async function readText(file: string, path: string): Promise<string> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw new Error('it is no file')
    if (found.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1_000_000} MB`)
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${errorLine(error)}. ${FORM}`)
  }
}

function parse(file: string, text: string): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new UsageError(`${file} is no JSON. ${FORM}`)
  }
  if (!isJsonObject(parsed) || (parsed['memory'] ?? parsed['user']) === undefined)
    throw new UsageError(`${file} holds no memories. ${FORM}`)
  return parsed
}
