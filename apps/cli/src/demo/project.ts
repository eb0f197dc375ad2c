import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SLUG = `// Turns a title into the last part of a web address.
export function slugify(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
}
`

const TEST = `import { slugify } from './slug.js'

const cases = [
  ['Hello World', 'hello-world'],
  ['  Spaces around  ', 'spaces-around'],
  ['What is new?', 'what-is-new'],
]

let failed = 0
for (const [title, expected] of cases) {
  const got = slugify(title)
  if (got === expected) console.log('ok    ' + title.trim())
  else {
    failed++
    console.log('FAIL  ' + title.trim() + ': expected ' + expected + ', got ' + got)
  }
}
console.log(failed === 0 ? 'all tests pass' : failed + ' of ' + cases.length + ' tests fail')
process.exitCode = failed === 0 ? 0 : 1
`

const MANIFEST = `{
  "name": "slug",
  "private": true,
  "type": "module"
}
`

/** The small broken project of the demo: one module, one test that fails. */
export async function writeProject(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), MANIFEST)
  await writeFile(join(folder, 'slug.js'), SLUG)
  await writeFile(join(folder, 'slug.test.js'), TEST)
}

/** What the demo asks for. */
export const TASK =
  'A test in this folder fails. Find it, mend the code, and show that the tests pass. Tests run with: node slug.test.js'
