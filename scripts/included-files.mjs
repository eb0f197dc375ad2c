// Pages that show files of the repository. Used by generate.mjs.
import { globSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

const BLOCK = /(<!-- file: (\S+) -->\n)[\s\S]*?(<!-- \/file -->)/g

/**
 * The pages below docs as they should be: between `<!-- file: PATH -->` and `<!-- /file -->` stands what is in the file.
 * @returns {{ file: string, text: string }[]}
 */
export function pagesWithFiles(root) {
  return globSync('docs/**/*.md', { cwd: root }).flatMap((file) => {
    const page = readFileSync(join(root, file), 'utf8')
    const text = page.replace(BLOCK, (_, begin, path, end) => {
      const language = extname(path).slice(1) || basename(path).toLowerCase()
      return `${begin}\n\`\`\`${language}\n${readFileSync(join(root, path), 'utf8')}\`\`\`\n\n${end}`
    })
    return text.includes('<!-- file: ') ? [{ file, text }] : []
  })
}
