// node scripts/generate.mjs [--check] [ROOT]: writes the index of all tool factories into the runtime, and the table of providers
// into docs/providers.md, and what comes of the keys of config.yaml: the table that is read at a start, the page about them, the schema for editors.
// Pages below docs get the files they show, docs/entry-points.md its table, docs/reference and docs/parity.md what the sources have.
// The script that the browser runs in pages is written as text into packages/browser/src/generated, skills that come with Hermes into
// packages/skills/src/generated, which scanner this is into packages/safety/src/generated.
// A tool is found by its export: `export const createNAMETool` (or `function`) in packages/tools/src, or in src/tools of any
// other package, which then exports it at `./tools`, together with a type PACKAGEToolServices: what its factories take.
// Exit codes: 0 written or fresh, 1 stale (--check) or a cell of that table without a test, 2 no tool found, two of one name, or a wrong option.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bundledSkillFiles } from './bundled-skills.mjs'
import { configFiles } from './config-files.mjs'
import { entryPointPage } from './entry-points.mjs'
import { pagesWithFiles } from './included-files.mjs'
import { readOptions } from './options.mjs'
import { pageScriptFile } from './page-script.mjs'
import { parityPage } from './parity.mjs'
import { productFacts } from './product-facts.mjs'
import { providerTable } from './provider-table.mjs'
import { referencePages } from './reference-pages.mjs'
import { scannerDigest } from './scanner-digest.mjs'

const options = { check: { type: 'boolean' } }
const { values, positionals } = readOptions(import.meta.filename, options, { allowPositionals: true })
const root = resolve(positionals[0] ?? `${import.meta.dirname}/..`)
const target = join(root, 'packages/runtime/src/generated/tools.ts')

const tools = findTools()
const twins = tools.filter((tool, index) => tool.factory === tools[index + 1]?.factory)
if (tools.length === 0) fail(2, `no tool factory under ${root}/packages`)
if (twins.length > 0) fail(2, `two tools are named ${twins[0].factory}`)

const text = render(tools)
if (!values.check) {
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  console.log(`generate: ${tools.length} tools`)
} else if (readIfPresent(target) !== text) {
  fail(1, 'packages/runtime/src/generated/tools.ts is stale; run: pnpm gen')
}

const table = await providerTable(root)
if (table && !values.check) {
  writeFileSync(table.file, table.text)
  console.log(`generate: ${table.count} providers`)
} else if (table && readIfPresent(table.file) !== table.text) {
  fail(1, 'the table of providers in docs/providers.md is stale; run: pnpm gen')
}

for (const page of [
  ...(await configFiles(root)),
  ...pagesWithFiles(root),
  ...pages(entryPointPage),
  ...pageScriptFile(root),
  ...pages(bundledSkillFiles),
  ...scannerDigest(root),
])
  keep(page)

// What the pages say is read from the files above.
const facts = await productFacts(root)
if (facts) for (const page of pages(() => [...referencePages(root, facts), ...parityPage(root, facts)])) keep(page)

function keep({ file, text }) {
  const path = join(root, file)
  if (values.check && readIfPresent(path) !== text) fail(1, `${file} is stale; run: pnpm gen`)
  if (values.check) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  console.log(`generate: ${file}`)
}

/** The pages that `make` gives for this workspace; ends with what is wrong about them. */
function pages(make) {
  try {
    return make(root)
  } catch (error) {
    return fail(1, error.message)
  }
}

/** @returns {{ factory: string, module: string }[]} sorted by factory */
function findTools() {
  const packages = list(join(root, 'packages')).filter((entry) => entry.isDirectory())
  return packages
    .flatMap(({ name }) => [
      ...(name === 'tools' ? factoriesIn(join(root, 'packages', name, 'src'), `@hermes/${name}`) : []),
      ...factoriesIn(join(root, 'packages', name, 'src/tools'), `@hermes/${name}/tools`),
    ])
    .sort((a, b) => compare(a.factory, b.factory))
}

function factoriesIn(directory, module) {
  return list(directory)
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .flatMap(({ name }) => [
      ...readFileSync(join(directory, name), 'utf8').matchAll(/^export (?:const|function) (create\w+Tool)\b/gm),
    ])
    .map((match) => ({ factory: match[1], module }))
}

function render(found) {
  const modules = Map.groupBy(found, (tool) => tool.module)
  const sorted = [...modules.keys()].sort(compare)
  const imports = sorted.map((module) => {
    const names = modules.get(module).map((tool) => `  ${tool.factory},\n`)
    return `import {\n${names.join('')}  type ${servicesOf(module)},\n} from '${module}'\n`
  })
  const services = ['ToolSettings', ...sorted.map(servicesOf).filter((name) => name !== 'ToolSettings')]
  const entries = found.map((tool) => `  ${tool.factory},\n`)
  return `// Written by \`pnpm gen\`. Every tool that ships with Hermes, by the name of its factory.
import type { Tool } from '@hermes/contracts/tool'
${imports.join('')}
/** What the tools need of a home. */
type ToolServices = ${services.join(' & ')}

/** Makes one tool for a home. */
export type ToolFactory = (services: ToolServices) => Tool

export const toolFactories: readonly ToolFactory[] = [
${entries.join('')}]
`
}

/** `@hermes/agent-core/tools` → `AgentCoreToolServices`; the package `tools` itself has limits only. */
function servicesOf(module) {
  const [, name, isSubpath] = module.split('/')
  if (!isSubpath) return 'ToolSettings'
  return `${name.replace(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase())}ToolServices`
}

function list(directory) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b)
}

function fail(code, message) {
  console.error(`generate: ${message}`)
  process.exit(code)
}
