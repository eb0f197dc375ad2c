// What "Where a change goes" in AGENTS.md promises: five kinds of change are made in a copy of the packages, by hand in one folder and in one
// entry of one list (its import and its name), and nowhere else; `pnpm gen` does the rest. Each works, and all of them pass the types.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'

const run = promisify(execFile)
const repository = resolve(import.meta.dirname, '../..')
const scratches: string[] = []
afterEach(async () => {
  await Promise.all(scratches.splice(0).map((path) => rm(path, { recursive: true })))
})

interface Patch {
  readonly folder: string
  /** New files of the folder. */
  readonly files: Readonly<Record<string, string>>
  /** Where the folder is listed: what is put before which text, once each. */
  readonly list: {
    readonly file: string
    /** The import of what the entry names; none where the entry itself is one. */
    readonly imports?: string
    readonly entry: string
    readonly before: string
  }
}

const PATCHES = {
  // Of a deferred toolset; what requests define whole has a row in bench/prompt-budget.json besides.
  tool: {
    folder: 'packages/storage/src/tools',
    files: {
      'tide.ts': `import { defineTool } from '@hermes/contracts/tool'

export const createTideTool = () =>
  defineTool({
    name: 'tide',
    toolset: 'learning',
    description: 'Says how high the water stands.',
    effect: 'read',
    parameters: { type: 'object', properties: {} },
    execute: () => 'high',
  })
`,
    },
    list: {
      file: 'packages/storage/src/tools/index.ts',
      entry: "export { createTideTool } from './tide.js'\n",
      before: 'export { createSessionSearchTool }',
    },
  },
  hook: {
    folder: 'packages/agent-core/src/extensions/tide',
    files: {
      'extension.ts': `import type { Extension } from '@hermes/contracts/extension'

export const tide = (): Extension => ({
  name: 'tide',
  setup: ({ hooks }) => {
    hooks.on('input', () => ({ after: [{ type: 'text', text: 'The water is high.', origin: 'reminder' }] }))
  },
})
`,
    },
    list: {
      file: 'packages/agent-core/src/extensions/standard.ts',
      imports: "import { tide } from './tide/extension.js'\n",
      entry: 'tide(), ',
      before: 'environmentContext()]',
    },
  },
  command: {
    folder: 'packages/runtime/src/tide',
    files: {
      'extension.ts': `import type { Extension } from '@hermes/contracts/extension'

export const tideCommand = (): Extension => ({
  name: 'tide-command',
  setup: (api) => {
    api.commands.add({
      name: 'tide',
      summary: 'say how high the water stands',
      needsSession: false,
      run: () => ({ type: 'text', text: 'The water is high.' }),
    })
  },
})
`,
    },
    list: {
      file: 'packages/runtime/src/extensions/built-in.ts',
      imports: "import { tideCommand } from '../tide/extension.js'\n",
      entry: 'tideCommand(),\n    ',
      before: 'doctorCommand(parts.runtime',
    },
  },
  'config key': {
    folder: 'packages/config/src/keys',
    files: {
      'tide.ts': `import { section, whole } from './kinds.js'

export const TIDE = section({ height: whole(0)(3).describe('Metres.') })
`,
    },
    list: {
      file: 'packages/config/src/keys/config.ts',
      imports: "import { TIDE } from './tide.js'\n",
      entry: 'tide: TIDE,\n  ',
      before: 'context_file_max_chars:',
    },
  },
  'doctor check': {
    folder: 'packages/runtime/src/doctor',
    files: {
      'tide.ts': `import type { Finding } from '@hermes/contracts/extension'
import { ok } from './finding.js'

export const tideFinding = (): Finding => ok('The water is high.')
`,
    },
    list: {
      file: 'packages/runtime/src/doctor/doctor.ts',
      imports: "import { tideFinding } from './tide.js'\n",
      entry: 'tideFinding(),\n    ',
      before: '...proxyFindings(of)',
    },
  },
} satisfies Record<string, Patch>

/** Finds in a copy what each patch adds, and prints it as JSON. Runs in a process of its own, from the sources of the copy. */
const PROBE = `
import { mkdirSync, writeFileSync } from 'node:fs'
const { createAgent, standardExtensions } = await import('./packages/agent-core/src/index.ts')
const { openRuntime } = await import('./packages/runtime/src/index.ts')
const home = import.meta.dirname + '/home'
mkdirSync(home, { mode: 0o700 })
writeFileSync(home + '/config.yaml', 'tide:\\n  height: 5\\n', { mode: 0o600 })
const runtime = await openRuntime({ home, userHome: home, cwd: home, tempDir: home, user: 'ada', env: {} })
const command = (name) => runtime.extensions.list('command').find(({ item }) => item.name === name)?.item
let request = ''
const model = {
  provider: 'probe',
  model: 'probe',
  async *stream({ messages }) {
    request = JSON.stringify(messages)
    const counts = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: 0 }
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop' }
    yield { type: 'finish', message, usage: counts, stamp: { provider: 'probe', endpoint: '', model: 'probe' } }
  },
}
await createAgent({ model, tools: [], extensions: standardExtensions() }).run('Go.').result
const { findings } = await command('doctor').run({ offline: true })
const found = {
  tool: (await runtime.tools()).some(({ name, isEnabled }) => name === 'tide' && isEnabled),
  hook: request.includes('The water is high.'),
  command: command('tide')?.run().text === 'The water is high.',
  'config key': runtime.config.tide?.height === 5 && runtime.problems.length === 0,
  'doctor check': findings.some(({ level, text }) => level === 'ok' && text === 'The water is high.'),
}
await runtime.close()
console.log(JSON.stringify(Object.keys(found).filter((name) => found[name])))
`

/** A copy of the packages' sources, which uses the libraries of this repository. */
async function scratch(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'hermes-drill-'))
  scratches.push(root)
  const isSource = (path: string) => !/\.test\.ts$|\/(?:dist|\.turbo|__fixtures__)$/.test(path)
  await cp(join(repository, 'packages'), join(root, 'packages'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: isSource,
  })
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
  return root
}

async function apply(root: string, { folder, files, list }: Patch): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    expect(basename(name)).toBe(name)
    await writeFile(join(root, folder, name), text, { flag: 'wx' })
  }
  const path = join(root, list.file)
  const [before, after, ...more] = (await readFile(path, 'utf8')).split(list.before)
  expect({ file: list.file, places: more.length + (after === undefined ? 0 : 1) }).toEqual({
    file: list.file,
    places: 1,
  })
  await writeFile(path, `${list.imports ?? ''}${before}${list.entry}${list.before}${after}`)
}

const generate = (root: string) => run(process.execPath, [join(repository, 'scripts/generate.mjs'), root])

async function probe(root: string): Promise<readonly string[]> {
  await writeFile(join(root, 'probe.mjs'), PROBE)
  const sources = join(repository, 'packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', '--import', sources, join(root, 'probe.mjs')]
  // Nobody reads the copy again.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
  return JSON.parse((await run(process.execPath, args, { env })).stdout)
}

it.each(Object.entries<Patch>(PATCHES))('a %s takes one entry of one list', (_name, { list }) => {
  const lines = [list.imports, list.entry].filter((text) => text !== undefined)
  expect(lines.map((text) => text.trim().split('\n').length)).toEqual(lines.map(() => 1))
})

it('each of the five works and takes one folder besides; together they pass the types', async () => {
  const root = await scratch()
  for (const patch of Object.values<Patch>(PATCHES)) await apply(root, patch)
  await generate(root)
  expect((await probe(root)).toSorted()).toEqual(Object.keys(PATCHES).toSorted())
  await writeFile(
    join(root, 'tsconfig.json'),
    JSON.stringify({ extends: join(repository, 'tsconfig.base.json'), files: ['packages/runtime/src/index.ts'] }),
  )
  const { stdout } = await run(join(repository, 'node_modules/.bin/tsc'), ['-p', root]).catch((error) => error)
  expect(stdout).toBe('')
}, 180_000)
