import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const script = join(import.meta.dirname, '../../scripts/generate.mjs')
const generated = 'packages/runtime/src/generated/tools.ts'
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'generate-'))
})
afterEach(() => rm(root, { recursive: true }))

async function write(path: string, text: string) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

function run(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [script, ...args, root], { encoding: 'utf8' })
  return { status, stderr }
}

it('lists the factories of all packages, sorted, and finds its own output fresh', async () => {
  await write('packages/tools/src/write-file.ts', 'export const createWriteFileTool = () => {}\n')
  await write('packages/tools/src/a.test.ts', 'export const createTestTool = () => {}\n')
  await write('packages/tools/src/index.ts', "export { createWriteFileTool } from './write-file.js'\n")
  await write('packages/memory/src/tools/memory.ts', 'export function createMemoryTool() {}\n')
  await write('packages/memory/src/other.ts', 'export function createOtherTool() {}\n')
  expect(run('--check').status).toBe(1)
  expect(run().status).toBe(0)
  expect(
    await readFile(join(root, generated), 'utf8'),
  ).toBe(`// Written by \`pnpm gen\`. Every tool that ships with Hermes, by the name of its factory.
import type { Tool } from '@hermes/contracts/tool'
import {
  createMemoryTool,
  type MemoryToolServices,
} from '@hermes/memory/tools'
import {
  createWriteFileTool,
  type ToolSettings,
} from '@hermes/tools'

/** What the tools need of a home. */
type ToolServices = ToolSettings & MemoryToolServices

/** Makes one tool for a home. */
export type ToolFactory = (services: ToolServices) => Tool

export const toolFactories: readonly ToolFactory[] = [
  createMemoryTool,
  createWriteFileTool,
]
`)
  expect(run('--check')).toEqual({ status: 0, stderr: '' })
})

it('says which command refreshes a stale index, and writes nothing', async () => {
  await write('packages/tools/src/a.ts', 'export const createATool = () => {}\n')
  await write(generated, 'old')
  expect(run('--check')).toEqual({ status: 1, stderr: `generate: ${generated} is stale; run: pnpm gen\n` })
  expect(await readFile(join(root, generated), 'utf8')).toBe('old')
})

it('refuses two factories of one name, and no factory at all', async () => {
  expect(run().status).toBe(2)
  await write('packages/tools/src/a.ts', 'export const createATool = () => {}\n')
  await write('packages/memory/src/tools/a.ts', 'export const createATool = () => {}\n')
  expect(run()).toEqual({ status: 2, stderr: 'generate: two tools are named createATool\n' })
})

it('writes the providers of the catalogue into docs/providers.md, and finds when they differ', async () => {
  await write('packages/tools/src/a.ts', 'export const createATool = () => {}\n')
  await write('docs/providers.md', '# X\n<!-- providers: written by pnpm gen -->\nold\n<!-- /providers -->\nend\n')
  const entry = {
    name: 'A',
    id: 'a',
    aliases: ['b'],
    keyVariables: ['A_KEY'],
    sharedKeyVariables: [],
    keyRequired: true,
  }
  const provider = { ...entry, auth: 'key', api: 'responses', modelApis: [], exercised: true, defaultModel: 'm' }
  await write(
    'packages/transports/src/catalogue/all.ts',
    `export const all: object[] = [${JSON.stringify(provider)}]\n`,
  )
  await write(
    'packages/transports/src/catalogue.ts',
    "import { all } from './catalogue/all.js'\nexport const PROVIDERS = all as readonly object[]\n",
  )
  expect(run().status).toBe(0)
  expect(await readFile(join(root, 'docs/providers.md'), 'utf8')).toBe(`# X
<!-- providers: written by pnpm gen -->

| provider | names | key | wire | default model | tested |
| --- | --- | --- | --- | --- | --- |
| A | \`a\`, \`b\` | \`A_KEY\` | Responses | \`m\` | yes |

<!-- /providers -->
end
`)
  expect(run('--check')).toEqual({ status: 0, stderr: '' })
  await write('packages/transports/src/catalogue/all.ts', 'export const all: object[] = []\n')
  expect(run('--check')).toEqual({
    status: 1,
    stderr: 'generate: the table of providers in docs/providers.md is stale; run: pnpm gen\n',
  })
})

it('writes what works where, and names each cell that has neither a test nor a reason', async () => {
  await write('packages/tools/src/a.ts', 'export const createATool = () => {}\n')
  await write('tests/a.test.ts', "it('answers', () => {})\nit.each(cases)('counts to $n', async () => {})\n")
  const cells = { oneshot: 'tests/a.test.ts > counts to $n', gateway: { why: 'not yet' }, acp: { why: 'not yet' } }
  const row = {
    feature: 'stop',
    terminal: 'tests/a.test.ts > answers',
    ...cells,
    embedded: 'tests/a.test.ts > answers',
  }
  const data = (features: object[], enforced = false) =>
    write('docs/entry-points.json', JSON.stringify({ enforced, features }))
  await data([row])
  expect(run().status).toBe(0)
  expect(await readFile(join(root, 'docs/entry-points.md'), 'utf8')).toContain(
    '| stop | [yes](../tests/a.test.ts "answers") | [yes](../tests/a.test.ts "counts to $n") | 1 | 1 | [yes]',
  )
  await data([{ ...row, terminal: 'tests/a.test.ts > answer', gateway: 'tests/b.test.ts > x', acp: {}, embedded: '' }])
  expect(run('--check')).toEqual({
    status: 1,
    stderr: `generate: docs/entry-points.json:
  stop, terminal: no test "answer" in tests/a.test.ts
  stop, gateway: there is no file tests/b.test.ts
  stop, editor (ACP): neither a test nor a reason
  stop, your program: neither a test nor a reason
`,
  })
  await data([row], true)
  expect(run('--check')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/2 of 5 cells have no test\n {2}stop: has to be there at every entry point/),
  })
})
