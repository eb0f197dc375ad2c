import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkBoundaries } from '../../scripts/boundaries/check.mjs'
import { RULES } from '../../scripts/boundaries/rules.mjs'

const roots: string[] = []
afterEach(async () => {
  await Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true })))
})

type Manifest = Record<string, unknown>

/** Checks a workspace made of `files`; each `packages/x` or `apps/x` folder gets a manifest, widened by `manifests`. */
async function check(
  files: Record<string, string>,
  options: { manifests?: Record<string, Manifest>; allowed?: unknown[] } = {},
) {
  const root = await mkdtemp(join(tmpdir(), 'boundaries-'))
  roots.push(root)
  const all: Record<string, string> = { 'package.json': JSON.stringify({ devDependencies: { vitest: '1' } }), ...files }
  const dirs = new Set(Object.keys(files).map((path) => path.replace(/\/(src\/.*|[^/]*)$/, '')))
  for (const dir of dirs) {
    const name = `@hermes/${basename(dir)}`
    const manifest = { name, exports: { '.': { '@hermes/source': './src/index.ts' } }, ...options.manifests?.[dir] }
    all[`${dir}/package.json`] = JSON.stringify(manifest)
  }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const outcome = checkBoundaries({ root, rules: { ...RULES, allowed: options.allowed ?? [] } })
  return outcome.violations.map(
    ({ file, line, rule }: { file: string; line: number; rule: string }) => `${file}:${line} ${rule}`,
  )
}

const uses = (...names: string[]): Manifest => ({ dependencies: Object.fromEntries(names.map((name) => [name, '*'])) })

describe('rows', () => {
  it('accepts an import of a lower row that package.json declares', async () => {
    const found = await check(
      {
        'packages/contracts/src/index.ts': 'export const a = 1',
        'packages/safety/src/index.ts': "export { a } from '@hermes/contracts'",
      },
      { manifests: { 'packages/safety': uses('@hermes/contracts') } },
    )
    expect(found).toEqual([])
  })

  const cases: [string, string, string, string][] = [
    ['sideways', 'packages/storage', 'packages/sandbox', "import '@hermes/sandbox'"],
    ['upward', 'packages/safety', 'packages/storage', "import '@hermes/storage'"],
    ['upward in a re-export', 'packages/safety', 'packages/storage', "export * from '@hermes/storage'"],
    ['upward in a type', 'packages/safety', 'packages/storage', "export type { A } from '@hermes/storage'"],
    [
      'upward in an import() type',
      'packages/safety',
      'packages/storage',
      "export type B = import('@hermes/storage').A",
    ],
    [
      'upward by a dynamic import',
      'packages/safety',
      'packages/storage',
      "export const a = () => import('@hermes/storage')",
    ],
    ['from agent-core to tools', 'packages/agent-core', 'packages/tools', "import '@hermes/tools'"],
    ['from agent-core to storage', 'packages/agent-core', 'packages/storage', "import '@hermes/storage'"],
    [
      'from registry for a value',
      'packages/registry',
      'packages/contracts',
      "import { type A } from '@hermes/contracts'",
    ],
    ['from an app to an app', 'apps/gateway', 'apps/cli', "import '@hermes/cli'"],
    ['from the cli to the gateway at start', 'apps/cli', 'apps/gateway', "import '@hermes/gateway'"],
    ['of the testkit by a source file', 'packages/storage', 'packages/testkit', "import '@hermes/testkit'"],
  ]
  it.each(cases)('reports an import %s', async (_title, from, to, text) => {
    const target = `@hermes/${to.split('/')[1]}`
    const found = await check(
      { [`${from}/src/index.ts`]: text, [`${to}/src/index.ts`]: 'export type A = 1' },
      { manifests: { [from]: uses(target) } },
    )
    expect(found).toEqual([`${from}/src/index.ts:1 row`])
  })

  it('reports an app that imports a platform package', async () => {
    const found = await check(
      {
        'apps/gateway/src/index.ts': "export const a = () => import('@hermes/irc')",
        'packages/platforms/irc/src/index.ts': 'export {}',
      },
      { manifests: { 'apps/gateway': uses('@hermes/irc') } },
    )
    expect(found).toEqual(['apps/gateway/src/index.ts:1 row'])
  })

  it('lets registry import types from contracts and the cli load the gateway late', async () => {
    const found = await check(
      {
        'packages/contracts/src/index.ts': 'export type A = 1',
        'packages/registry/src/index.ts': "import type { A } from '@hermes/contracts'\nexport type B = A",
        'apps/gateway/src/index.ts': 'export {}',
        'apps/cli/src/index.ts': "export const a = () => import('@hermes/gateway')",
      },
      { manifests: { 'packages/registry': uses('@hermes/contracts'), 'apps/cli': uses('@hermes/gateway') } },
    )
    expect(found).toEqual([])
  })

  it('lets tests import the testkit and root development tools', async () => {
    const found = await check(
      {
        'packages/storage/src/index.ts': 'export {}',
        'packages/storage/src/a.test.ts': "import { it } from 'vitest'\nimport '@hermes/testkit'\nit('a', () => {})",
        'packages/testkit/src/index.ts': 'export {}',
      },
      { manifests: { 'packages/storage': { devDependencies: { '@hermes/testkit': '*' } } } },
    )
    expect(found).toEqual([])
  })

  it('reports a package that is in no row', async () => {
    expect(await check({ 'packages/novelty/src/index.ts': 'export {}' })).toEqual([
      'packages/novelty/package.json:1 row',
    ])
  })
})

describe('paths and dependencies', () => {
  it.each([
    ['deep', "import '@hermes/contracts/src/a.js'"],
    ['relative', "import '../../contracts/src/index.js'"],
    ['relative', "import './missing.js'"],
    ['relative', "import '/etc/a.js'"],
    ['builtin', "import 'fs'"],
    ['undeclared', "import 'left-pad'"],
    ['undeclared', "import type { A } from 'left-pad/sub'"],
    ['undeclared', "export const a = require('left-pad')"],
  ])('reports %s for %s', async (rule, text) => {
    const found = await check(
      {
        'packages/contracts/src/index.ts': 'export {}',
        'packages/safety/src/index.ts': `import '@hermes/contracts'\n${text}`,
      },
      { manifests: { 'packages/safety': uses('@hermes/contracts') } },
    )
    expect(found).toEqual([`packages/safety/src/index.ts:2 ${rule}`])
  })

  it('reports a dependency that only tests import', async () => {
    const found = await check(
      { 'packages/safety/src/index.ts': 'export {}', 'packages/safety/src/a.test.ts': "import 'left-pad'" },
      { manifests: { 'packages/safety': uses('left-pad') } },
    )
    expect(found).toEqual(['packages/safety/package.json:1 unused'])
  })

  it('lets an app depend on what a package in its bundle imports', async () => {
    const found = await check(
      { 'apps/cli/src/index.ts': 'export {}', 'packages/safety/src/index.ts': "import 'left-pad'" },
      { manifests: { 'apps/cli': uses('left-pad'), 'packages/safety': uses('left-pad') } },
    )
    expect(found).toEqual([])
  })

  it('ignores imports in comments, strings and templates', async () => {
    const text = "// import 'a'\n/* import 'b' */\nexport const s = `import 'c'` + \"import('d')\" // require('e')"
    expect(await check({ 'packages/safety/src/index.ts': text })).toEqual([])
  })

  it('lets tests, and no source file, import fixtures, which may be broken', async () => {
    const found = await check({
      'packages/safety/src/index.ts': "import './__fixtures__/helper.js'",
      'packages/safety/src/a.test.ts': "import './__fixtures__/helper.js'",
      'packages/safety/src/__fixtures__/helper.ts': "import { it } from 'vitest'",
      'packages/safety/src/__fixtures__/broken.ts': 'const = 1',
    })
    expect(found).toEqual(['packages/safety/src/index.ts:1 relative'])
  })

  it('lets a build configuration, and nothing in src, share one at the root of the workspace', async () => {
    const found = await check({
      'apps/acp/src/index.ts': "import '../../../tsup.app.js'",
      'apps/acp/tsup.config.ts': "import '../../tsup.app.js'\nimport '../../packages/safety/tsup.config.js'",
    })
    expect(found).toEqual(['apps/acp/src/index.ts:1 relative', 'apps/acp/tsup.config.ts:2 relative'])
  })

  it('reports a room that imports one it must not know, but for its tests', async () => {
    const base = 'packages/agent-core/src'
    const found = await check({
      [`${base}/index.ts`]: "import './extensions/plan.js'",
      [`${base}/loop/run.ts`]: "import type { A } from '../extensions/plan.js'",
      [`${base}/loop/run.test.ts`]: "import '../extensions/plan.js'",
      [`${base}/extensions/plan.ts`]: "import '../loop/step.js'\nexport type A = 1",
      [`${base}/loop/step.ts`]: 'export {}',
    })
    expect(found).toEqual([`${base}/loop/run.ts:1 room`])
  })

  it('reports an app that makes agents by itself', async () => {
    const open = 'export const open = (runtime: any) => runtime.createAgent({})'
    const allowed = RULES.allowed.filter(({ uses }) => uses.includes('agent factory'))
    const files = { 'apps/acp/src/index.ts': open, 'packages/host/src/live-session.ts': open }
    const found = await check(files, { allowed })
    expect(found).toEqual(['apps/acp/src/index.ts:1 sink'])
  })

  it('reports a file that does not parse', async () => {
    expect(await check({ 'packages/safety/src/index.ts': 'const = 1' })).toEqual([
      'packages/safety/src/index.ts:1 parse',
    ])
  })

  it('reports a package without files', async () => {
    expect(await check({ 'packages/safety/README.md': '' })).toEqual(['packages/safety/package.json:1 empty'])
  })
})

describe('cycles', () => {
  it.each([
    ['values', "import './b.js'", "import './index.js'"],
    [
      'types',
      "import type { B } from './b.js'\nexport type A = B",
      "import type { A } from './index.js'\nexport type B = A",
    ],
    ['dynamic imports', "export const a = () => import('./b.js')", "import './index.js'"],
  ])('reports a cycle of %s once', async (_title, index, other) => {
    const found = await check({ 'packages/safety/src/index.ts': index, 'packages/safety/src/b.ts': other })
    expect(found).toEqual(['packages/safety/src/b.ts:1 cycle'])
  })
})

describe('what a root entry loads', () => {
  const manifests = {
    'packages/storage': {
      ...uses('better-sqlite3'),
      exports: { '.': { '@hermes/source': './src/index.ts' }, './sqlite': { '@hermes/source': './src/sqlite.ts' } },
    },
    'packages/runtime': uses('@hermes/storage'),
  }
  const sqlite = "import Database from 'better-sqlite3'\nexport const open = () => new Database()"

  it('accepts a native package behind await import()', async () => {
    const found = await check(
      {
        'packages/storage/src/index.ts': "export const open = async () => (await import('./sqlite.js')).open()",
        'packages/storage/src/sqlite.ts': sqlite,
        'packages/runtime/src/index.ts': "export const open = () => import('@hermes/storage/sqlite')",
      },
      { manifests },
    )
    expect(found.filter((line) => line.endsWith(' heavy'))).toEqual([])
  })

  it('reports a native package through files and other packages', async () => {
    const found = await check(
      {
        'packages/storage/src/index.ts': 'export {}',
        'packages/storage/src/sqlite.ts': sqlite,
        'packages/runtime/src/index.ts': "export * from './open.js'",
        'packages/runtime/src/open.ts': "export { open } from '@hermes/storage/sqlite'",
      },
      { manifests },
    )
    expect(found.filter((line) => line.endsWith(' heavy'))).toEqual(['packages/storage/src/sqlite.ts:1 heavy'])
  })

  it('reports what a bin loads', async () => {
    const found = await check(
      { 'apps/cli/src/index.ts': 'export {}', 'apps/cli/src/bin.ts': "import 'openai'" },
      { manifests: { 'apps/cli': { ...uses('openai'), bin: { hermes: './dist/bin.js' } } } },
    )
    expect(found.filter((line) => line.endsWith(' heavy'))).toEqual(['apps/cli/src/bin.ts:1 heavy'])
  })
})

describe('the outside world', () => {
  it.each([
    ['global', 'export const a = process.env.HOME'],
    ['global', 'export const a = globalThis.process["env"]'],
    ['global', 'export const { env } = process'],
    ['global', "export { env } from './x.js'; import { env } from 'node:process'"],
    ['global', 'export const a = () => process.chdir("/")'],
    ['global', 'console.log(1)'],
    ['sink', 'export const a = () => fetch("http://a")'],
    ['sink', 'export const a = (f = fetch) => f'],
    ['sink', 'export const a = (o: { fetch?: typeof fetch }) => o.fetch ?? fetch'],
    ['sink', 'export const a = globalThis.fetch'],
    ['sink', 'export const a = (use: (f: unknown) => void) => use(fetch)'],
    ['sink', "import { spawn } from 'node:child_process'\nexport const a = spawn"],
    ['sink', "export const a = () => import('node:http')"],
    ['sink', "export const a = globalThis['fetch']"],
    ['sink', 'export const { fetch: a } = globalThis'],
    ['sink', 'export const a = globalThis'],
    ['sink', "export const a = globalThis['fe' + 'tch']"],
    ['sink', 'export const a = () => fetch'],
    ['sink', 'export const a = (b: boolean) => (b ? fetch : null)'],
    ['sink', 'export const a = [fetch]'],
    ['sink', 'export const a = fetch.bind(null)'],
    ['sink', 'export function a() { return fetch }'],
    ['sink', "export const a = new WebSocket('ws://a')"],
    ['sink', "export const a = new globalThis.WebSocket('ws://a')"],
    ['sink', "export const a = eval('1')"],
    ['sink', "export const a = new Function('return 1')"],
    ['sink', 'export const a = (name: string) => import(name)'],
    ['sink', "import { createRequire } from 'node:module'; export const a = createRequire"],
    ['sink', "import { Worker } from 'node:worker_threads'; export const a = Worker"],
    ['sink', "import { writeFile } from 'node:fs/promises'; export const a = writeFile"],
    ['sink', "import { rmSync as tidy } from 'node:fs'; export const a = () => tidy('/a')"],
    ['sink', "import * as fs from 'node:fs/promises'; export const a = () => fs.unlink('/a')"],
    ['sink', "import fs from 'node:fs'; export const a = () => fs.promises"],
    ['sink', "import { promises } from 'node:fs'; export const a = () => promises.rm('/a')"],
    ['sink', "import * as fs from 'node:fs'; export const a = (name: 'rmSync') => fs[name]('/a')"],
    ['sink', "import { openSync } from 'node:fs'; export const a = () => openSync('/a', 'w')"],
    ['sink', "import { open } from 'node:fs/promises'; export const a = (flags: string) => open('/a', flags)"],
    ['sink', "import { openSync } from 'node:fs'; export const a = openSync"],
  ])('reports a %s in %s', async (rule, text) => {
    const files = { 'packages/safety/src/index.ts': text, 'packages/safety/src/x.ts': 'export const env = 1' }
    expect(await check(files)).toEqual([`packages/safety/src/index.ts:1 ${rule}`])
  })

  it.each([
    'export const a = (o: { fetch: (url: string) => unknown }) => o.fetch("http://a")',
    'export const a = ({ fetch }: { fetch: (url: string) => unknown }) => fetch("http://a")',
    'export type F = typeof fetch',
    "import type { ChildProcess } from 'node:child_process'\nexport type C = ChildProcess",
    'export const a = process.platform',
    "import { readFileSync, type WriteStream } from 'node:fs'; export const a = () => readFileSync('/a')",
    "import * as fs from 'node:fs'; export const a = () => fs.readFileSync('/a')",
    "import { openSync } from 'node:fs'; export const a = () => [openSync('/a'), openSync('/a', 'r')]",
    "import { constants, openSync } from 'node:fs'; export const a = () => openSync('/a', constants.O_RDONLY | constants.O_NOFOLLOW)",
    'export const a = (o: { writeFile: () => void }) => o.writeFile()',
    '// process.env, console.log\nexport const a = "fetch(1)"',
  ])('accepts %s', async (text) => {
    expect(await check({ 'packages/safety/src/index.ts': text })).toEqual([])
  })

  it('accepts tests, public suites, apps and allowed files', async () => {
    const env = 'export const a = process.env'
    const files = {
      'packages/safety/src/index.ts': 'export {}',
      'packages/safety/src/a.test.ts': env,
      'packages/safety/src/testing/index.ts': env,
      'packages/safety/src/run.ts': "import 'node:net'",
      'apps/cli/src/index.ts': env,
    }
    const allowed = [{ files: ['packages/safety/src/*.ts'], uses: ['node:net'], owner: 'safety', reason: 'a test' }]
    expect(await check(files, { allowed })).toEqual([])
  })

  it('reports an allowance nobody uses', async () => {
    const allowed = [{ files: ['packages/x/**'], uses: ['fetch'], owner: 'x', reason: 'a test' }]
    expect(await check({ 'packages/safety/src/index.ts': 'export {}' }, { allowed })).toEqual(['packages/x/**:1 stale'])
  })
})
