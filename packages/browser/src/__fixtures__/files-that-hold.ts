import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files below a folder in whose bytes one of these texts stands, as UTF-8 or UTF-16. */
export async function filesThatHold(folder: string, texts: readonly string[]): Promise<readonly string[]> {
  const needles = texts.flatMap((text) => [Buffer.from(text, 'utf8'), Buffer.from(text, 'utf16le')])
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    // A browser removes files while they are looked at.
    const bytes = entry.isFile() ? await readFile(path).catch(() => Buffer.alloc(0)) : Buffer.alloc(0)
    return needles.some((needle) => bytes.includes(needle)) ? path : []
  })
  return (await Promise.all(found)).flat()
}
