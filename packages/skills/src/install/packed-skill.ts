// A skill in one archive, read in memory: nothing of it is written before its names were looked at, and what is written is scanned and shown as
// any skill is.
import { SKILL_FILE } from '../format/skill.js'
import { MAX_FILES, oddFiles } from './hub.js'
import { readTar } from './read-tar.js'
import { type PackedFile, readZip } from './read-zip.js'

/** Of an archive, and of what it holds. */
export const MAX_PACKED_BYTES = 5_242_880
const GZIP = [0x1f, 0x8b]
const ZIP = [0x50, 0x4b]

/** The files of the skill that an archive holds, by its first bytes `.tar.gz` or ZIP; a folder around all of them is taken off. @throws Error, one line */
export function packedSkill(archive: Uint8Array): readonly PackedFile[] {
  const limits = { maxFiles: MAX_FILES, maxBytes: MAX_PACKED_BYTES }
  const beginsWith = (bytes: readonly number[]) => bytes.every((byte, at) => archive[at] === byte)
  if (!beginsWith(GZIP) && !beginsWith(ZIP)) throw new Error('it is neither a .tar.gz nor a ZIP archive')
  const files = beginsWith(GZIP) ? readTar(archive, limits) : readZip(archive, limits)
  const [top = ''] = files[0]?.path.split('/') ?? []
  const isWrapped =
    files.every(({ path }) => path.startsWith(`${top}/`)) && !files.some(({ path }) => path === SKILL_FILE)
  const own = isWrapped ? files.map(({ path, bytes }) => ({ path: path.slice(top.length + 1), bytes })) : files
  const odd = oddFiles(own.map(({ path }) => path))
  if (odd !== null) throw new Error(odd)
  return own
}
