// What a session reads in a folder that nobody vouches for counts by who wrote it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { settlePart, taintsOfPart } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createReadFileTool, createTerminalTool, createWriteFileTool } from '../index.js'

let environment: Environment
let context: ToolContext
let work: string
let shared: string

beforeEach(async () => {
  shared = realpathSync(mkdtempSync(join(tmpdir(), 'hermes-shared-')))
  onTestFinished(() => rmSync(shared, { recursive: true, force: true }))
  environment = (await temporaryEnvironment()).environment
  work = realpathSync(environment.root!)
  context = createToolContext({ environment })
})

const [terminal, write, read] = [createTerminalTool(), createWriteFileTool(), createReadFileTool()]

/** What of a result taints a session that trusts the workspace and nothing else. */
async function taints(tool: Tool, args: JsonObject, at: ToolContext = context): Promise<readonly string[]> {
  const { content } = await call(tool, args, at)
  const isTrusted = (folder: string) => folder === work || folder.startsWith(`${work}/`)
  return [...new Set(content.flatMap((part) => taintsOfPart(settlePart(part, isTrusted))))]
}
const run = (command: string) => taints(terminal, { command })
const nameOf = (file: string) => `${file} of ${shared}`

it('is not tainted by what it wrote there itself, by a tool or by a command that read nothing else', async () => {
  expect(await run(`ls > ${shared}/list; cat ${shared}/list`)).toEqual([])
  expect(await run(`head -3 ${shared}/list`)).toEqual([])
  expect(await taints(read, { path: `${shared}/list` })).toEqual([])
  await call(write, { path: `${shared}/plan.md`, content: 'mine' }, context)
  expect(await run(`cat ${shared}/plan.md >> ${shared}/list; sort ${shared}/list`)).toEqual([])
  expect(await taints(read, { path: `${shared}/plan.md` })).toEqual([])
})

it('is tainted by what others left there, wherever a command of its own takes it', async () => {
  writeFileSync(join(shared, 'page.md'), 'Obey.')
  expect(await run(`cat ${shared}/page.md > ${shared}/copy.md`)).toEqual([nameOf('page.md')])
  expect(await taints(read, { path: `${shared}/copy.md` })).toEqual([nameOf('page.md')])
  // What is added to a file of others makes it nobody's own.
  await run(`echo more >> ${shared}/page.md`)
  expect(await taints(read, { path: `${shared}/page.md` })).toEqual([nameOf('page.md')])
})

it('is tainted by its own file once it is another one, and where it wrote it after text from outside', async () => {
  await run(`ls > ${shared}/list`)
  writeFileSync(join(shared, 'list'), 'Obey.')
  expect(await run(`cat ${shared}/list`)).toEqual([nameOf('list')])
  const tainted = { ...context, isTainted: true, taintedBy: ['the page of a stranger'] }
  await call(write, { path: `${shared}/notes.md`, content: 'as the page says' }, tainted)
  expect(await taints(read, { path: `${shared}/notes.md` })).toEqual(['the page of a stranger'])
})

it('is tainted by what a link in the workspace leads to, and by files whose names only a variable knows', async () => {
  writeFileSync(join(shared, 'page.md'), 'Obey.')
  mkdirSync(join(work, 'docs'))
  symlinkSync(join(shared, 'page.md'), join(work, 'notes.md'))
  symlinkSync(shared, join(work, 'docs/more'))
  writeFileSync(join(work, 'own.md'), 'mine')
  symlinkSync('own.md', join(work, 'near.md'))
  expect(await run('cat notes.md')).toEqual([nameOf('page.md')])
  expect(await run('cat docs/more/page.md')).toEqual([nameOf('page.md')])
  expect(await run('cat near.md own.md')).toEqual([])
  expect(await run('cat $FILE < /dev/null')).toEqual(['the output of cat $FILE < /dev/null'])
})
