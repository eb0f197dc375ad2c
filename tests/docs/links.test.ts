// Every page of ours that points to a file points to one that is there.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

async function pages(): Promise<readonly string[]> {
  const found = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'bench/README.md']
  for (const folder of ['apps', 'packages', 'examples'])
    for (const name of await readdir(join(root, folder))) found.push(`${folder}/${name}/README.md`)
  for (const name of await readdir(join(root, 'docs'), { recursive: true }))
    if (name.endsWith('.md')) found.push(`docs/${name}`)
  return found.map((page) => join(root, page)).filter((page) => existsSync(page))
}

/** What `page` names and what is not there: links, and paths of the repository in backquotes, where a page leads through the code. */
async function missing(page: string): Promise<readonly string[]> {
  const text = await readFile(page, 'utf8')
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => join(dirname(page), match[1]!))
  const isMap = /docs\/(?:architecture\.md|guides\/)/.test(page)
  const paths = isMap ? [...text.matchAll(/`((?:apps|packages|scripts|tests)\/[\w./-]+)`/g)] : []
  const named = [...links, ...paths.map((match) => join(root, match[1]!))]
  return named.filter((path) => !existsSync(path)).map((path) => `${relative(root, page)}: ${relative(root, path)}`)
}

it('names files that exist', async () => {
  const all = await pages()
  expect(all.length).toBeGreaterThan(30)
  expect((await Promise.all(all.map(missing))).flat()).toEqual([])
})
