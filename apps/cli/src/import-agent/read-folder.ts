import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ImportItem } from './item.js'

const LARGEST_FILE = 5_000_000

/** The text of a file; `null` where there is none that can be read. */
export async function textOf(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null)
  if (!found?.isFile() || found.size > LARGEST_FILE) return null
  return readFile(file, 'utf8').catch(() => null)
}

/** The folders below `folder` that have a SKILL.md; links are not followed. Files larger than 5 MB stay behind. */
export async function skillsIn(folder: string): Promise<readonly ImportItem[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const items = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(async (entry): Promise<readonly ImportItem[]> => {
        const root = join(folder, entry.name)
        const files = await filesIn(root)
        if (files.has('SKILL.md')) return [{ type: 'skill', name: entry.name, files }]
        return files.size === 0 ? [] : [{ type: 'left', name: root, why: 'it has no SKILL.md' }]
      }),
  )
  return items.flat()
}

async function filesIn(root: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = new Map<string, Buffer>()
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || (await stat(path)).size > LARGEST_FILE) continue
    files.set(relative(root, path).replaceAll('\\', '/'), await readFile(path))
  }
  return files
}

/** Headings, paragraphs and list items of a Markdown text as entries of memory; headings alone are none. Pure. */
export function entriesOf(text: string): readonly string[] {
  const blocks = text.replaceAll('\r\n', '\n').split(/\n[ \t]*§[ \t]*\n|\n{2,}|\n(?=[-*] )/)
  return blocks
    .map((block) => block.replace(/^[-*] /, '').trim())
    .filter((block) => block !== '' && !/^#+ [^\n]*$/.test(block) && block !== '§' && block !== '---')
}
