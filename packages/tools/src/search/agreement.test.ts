import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hasRipgrep } from '../__fixtures__/has-ripgrep.js'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createSearchFilesTool } from '../index.js'
import { ripgrepSearcher } from './ripgrep.js'
import { walkSearcher } from './walk.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 6)

const name = fc.constantFrom('a', 'b.ts', 'c.log', 'dist', 'lib', '.hidden', 'sp ace.md', 'ü.txt', "it's")
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
const word = fc.constantFrom('needle', 'Needle', 'x = 1;', 'über', '', 'a.b', 'needle needle', 'fn(x)')
const end = fc.constantFrom('\n', '\n', '\r\n')
const text = fc.array(
  fc.tuple(word, fc.constantFrom('', ' ', '\t'), word, end).map((parts) => parts.join('')),
  {
    maxLength: 6,
  },
)
const content = fc
  .tuple(text, fc.constantFrom('utf8', 'utf8', 'utf8', 'utf16le', 'nul', 'open'))
  .map(([lines, kind]) => {
    const whole = lines.join('')
    if (kind === 'utf16le') return Buffer.from(`\uFEFF${whole}`, 'utf16le')
    if (kind === 'nul') return Buffer.from(`${whole}\0`)
    return Buffer.from(kind === 'open' ? whole.trimEnd() : whole)
  })
const rule = fc.constantFrom(
  'dist/',
  '*.log',
  '!c.log',
  '/lib',
  'lib/*.ts',
  '**/a',
  'a/**',
  '# b.ts',
  '!b.ts',
  'ü.*',
  'lib/',
)
const rules = fc.tuple(fc.constantFrom('', '', 'a', 'lib', 'dist/lib'), fc.array(rule, { minLength: 1, maxLength: 4 }))
const tree = fc.record({
  files: fc.array(fc.tuple(path, content), { minLength: 10, maxLength: 30 }),
  rules: fc.array(rules, { minLength: 1, maxLength: 3 }),
})
const query = fc.record({
  pattern: fc.constantFrom(
    'needle',
    '(?i)NEEDLE',
    'needle|über',
    '^needle$',
    'ne+dle\\b.*;$',
    'a\\.b',
    '\\w+\\(',
    '^$',
    'ü.?b',
  ),
  output_mode: fc.constantFrom('content', 'files_only', 'count'),
  context: fc.constantFrom(0, 0, 1, 3),
  file_glob: fc.constantFrom('', '', '', '*.ts', '*.{md,log}', 'lib/**', '!*.txt', '.hidden/**'),
})

async function write(file: string, bytes: Uint8Array | string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
  } catch (error) {
    // A name that is a file here and a folder there.
    if (!['EEXIST', 'ENOTDIR', 'EISDIR'].includes((error as { code: string }).code)) throw error
  }
}

it.skipIf(!hasRipgrep())('search_files answers the same with ripgrep and without, whatever the files', async () => {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  // So many that a thread reads the others.
  for (let at = 0; at < 600; at++) await write(join(folder, 'a-lot', String(at)), 'hay\n')
  const check = fc.asyncProperty(tree, query, async ({ files, rules }, { file_glob, ...args }) => {
    await rm(join(folder, 'tree'), { recursive: true, force: true })
    for (const [at, lines] of rules) await write(join(folder, 'tree', at, '.gitignore'), lines.join('\n'))
    for (const [at, bytes] of files) await write(join(folder, 'tree', at), bytes)
    const requested = { ...args, ...(file_glob === '' ? {} : { file_glob }) }
    const search = (searcher: typeof walkSearcher) =>
      call(createSearchFilesTool(undefined, [searcher]), requested, context)
    expect(await search(walkSearcher)).toEqual(await search(ripgrepSearcher))
  })
  await fc.assert(check, { numRuns: RUNS })
})
