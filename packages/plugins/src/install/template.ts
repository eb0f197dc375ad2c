// A plugin to begin with: its manifest, a module, and a test that passes.
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { NAMESPACE } from '../package/namespace.js'
import { PLATFORM } from './platform-template.js'

/** What a new plugin begins as. */
const KINDS = ['tool', 'memory', 'hook', 'provider', 'platform'] as const
type Kind = (typeof KINDS)[number]

/**
 * Writes a new plugin. The folder must not be there yet.
 * @throws HermesError `plugins.exists`, `commands.usage`
 */
export async function createPlugin(folder: string, kind: string): Promise<void> {
  if (!isKind(kind))
    throw new HermesError(`A plugin begins as one of ${KINDS.join(', ')}, not as ${kind.slice(0, 40)}.`, {
      code: 'commands.usage',
    })
  const name = basename(folder)
  if (!/^[a-z](?:-?[a-z0-9]){0,30}$/.test(name))
    throw new HermesError(
      `Name the folder as the plugin: up to 31 lower case letters, digits and dashes, not ${JSON.stringify(name.slice(0, 60))}.`,
      { code: 'commands.usage' },
    )
  const made = await mkdir(folder, { recursive: true })
  if (made === undefined) throw new HermesError(`${folder} is there already.`, { code: 'plugins.exists' })
  const tool = name.replaceAll('-', '_')
  const files = {
    ...COMMON(name, kind),
    ...FILES[kind](name, tool),
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
}

const isKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind)
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`

/** What the manifest says besides the module: a platform is asked and told at once, so it runs inside Hermes. */
const MEMBERS: Readonly<Record<Kind, object>> = {
  tool: { capabilities: {} },
  memory: { capabilities: { conversation: true } },
  hook: { capabilities: {} },
  provider: { capabilities: {} },
  platform: { runs: 'inside' },
}

/** The suite of platforms takes vitest. */
const SUITE = { '@hermes/platform': '^0.1.0', vitest: '^4.0.0' }

const COMMON = (name: string, kind: Kind) => ({
  'plugin.json': json({
    $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
    name,
    version: '0.1.0',
    description: {
      tool: 'A tool, a command and a hook.',
      memory: 'A memory in a file.',
      hook: 'A guard in front of commands.',
      provider: 'A server of models.',
      platform: 'A chat platform.',
    }[kind],
    extensions: { [NAMESPACE]: { extension: './index.ts', ...MEMBERS[kind] } },
  }),
  'package.json': json({
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { test: kind === 'platform' ? 'vitest run' : 'node --test' },
    devDependencies: { '@hermes/contracts': '^0.1.0', ...(kind === 'platform' ? SUITE : {}) },
  }),
  'README.md': `# ${name}\n\n    ${kind === 'platform' ? 'npm install && npm test   ' : 'node --test               '}                 # its tests\n    hermes plugins validate .\n    hermes plugins install . --enable\n`,
})

const TOOL = (name: string, tool: string) => ({
  'index.ts': `import type { Extension } from '@hermes/contracts/extension'

const MOST_CHARS = 1_000_000

/** What the tool does; a function of its own is easily tested. */
export function countWords(text: string): number {
  return text.split(/\\s+/).filter((word) => word !== '').length
}

const extension: Extension = {
  name: '${name}',
  setup(api) {
    api.tools.add({
      name: '${tool}',
      toolset: '${name}',
      description: 'Counts the words of a text.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string', description: 'The text.' } },
        required: ['text'],
      },
      effect: 'read',
      concurrency: 'parallel',
      execute: (args) => ({ data: { words: countWords((args as { text: string }).text) } }),
    })
    api.commands.add({
      name: '${name}',
      summary: 'counts words',
      needsSession: false,
      parameters: { type: 'object', properties: { text: { type: 'string', default: '' } } },
      run: ({ text }) => ({ type: 'text', text: \`\${countWords(String(text))} words\` }),
    })
    // Hooks hear of every call; take this one away if you need none.
    api.hooks.on('before-tool-call', ({ tool, args }) => {
      const isLong = tool.name === '${tool}' && String(args['text']).length > MOST_CHARS
      return isLong ? { type: 'block', reason: \`Count at most \${MOST_CHARS} characters at once.\` } : undefined
    })
  },
}
export default extension
`,
  'index.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countWords } from './index.ts'

test('counts words, whatever is between them', () => {
  assert.equal(countWords(' one  two\\nthree '), 3)
  assert.equal(countWords(''), 0)
})
`,
})

const HOOK = (name: string) => ({
  'index.ts': `import type { Extension } from '@hermes/contracts/extension'

/** Why a command is not to run; nothing where it may. */
export function objection(command: string): string | undefined {
  return /\\bgit\\s+push\\b.*--force\\b/.test(command) ? 'Force pushes are not made here; use --force-with-lease.' : undefined
}

const extension: Extension = {
  name: '${name}',
  setup(api) {
    // A gate that throws or takes too long objects, too.
    api.hooks.on('before-tool-call', ({ tool, args }) => {
      const reason = tool.name === 'terminal' ? objection(String(args['command'])) : undefined
      return reason === undefined ? undefined : { type: 'block', reason }
    })
  },
}
export default extension
`,
  'index.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objection } from './index.ts'

test('objects to forced pushes alone', () => {
  assert.match(objection('git push --force origin main') ?? '', /Force pushes/)
  assert.equal(objection('git push origin main'), undefined)
})
`,
})

const MEMORY = (name: string) => ({
  'index.ts': `import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Extension } from '@hermes/contracts/extension'
import type { MemoryProvider } from '@hermes/contracts/memory'

/** Remembers texts in one file; finds those that share a word with a question. */
export function openMemory(file: string): MemoryProvider {
  const read = (): string[] => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      return []
    }
  }
  const words = (text: string) => new Set(text.toLowerCase().match(/\\w{4,}/g) ?? [])
  const store = async (text: string) => writeFileSync(file, JSON.stringify([...read(), text]))
  return {
    name: '${name}',
    recall: async (query, { limit }) => {
      const wanted = words(query)
      const found = read().filter((text) => [...words(text)].some((word) => wanted.has(word)))
      return found.slice(-limit).map((text) => ({ id: text, text }))
    },
    keep: ({ user }) => store(user),
    store,
    forget: async (id) => {
      const texts = read()
      writeFileSync(file, JSON.stringify(texts.filter((text) => text !== id)))
      return texts.includes(id)
    },
    check: async () => undefined,
    close: async () => undefined,
  }
}

const extension: Extension = {
  name: '${name}',
  setup(api) {
    // config.yaml chooses it: memory: { provider: ${name} }
    const { PLUGIN_DATA = '.' } = process.env
    api.factories.add('memory', '${name}', () => openMemory(join(PLUGIN_DATA, 'memory.json')))
  },
}
export default extension
`,
  'index.test.ts': `import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from './index.ts'

test('finds what shares a word, until it is forgotten', async () => {
  const memory = openMemory(join(mkdtempSync(join(tmpdir(), '${name}-')), 'memory.json'))
  const signal = new AbortController().signal
  await memory.store('The boat is blue.', { signal })
  const [found] = await memory.recall('Which boat?', { limit: 3, signal })
  assert.equal(found?.text, 'The boat is blue.')
  assert.equal(await memory.forget('The boat is blue.', { signal }), true)
  assert.deepEqual(await memory.recall('Which boat?', { limit: 3, signal }), [])
})
`,
})

const PROVIDER = (name: string) => ({
  'index.ts': `import type { Extension } from '@hermes/contracts/extension'

/** The server, as an entry of \`providers\` in config.yaml would say it. */
export const provider = {
  baseUrl: 'https://models.example.com/v1',
  defaultModel: 'example-1',
  // Asked for as the person's: variables of .env, which no command gets.
  keyVariables: ['${name.replaceAll('-', '_').toUpperCase()}_API_KEY'],
}

const extension: Extension = {
  name: '${name}',
  setup(api) {
    // config.yaml chooses it: model: { provider: ${name} }
    api.factories.add('model-provider', '${name}', () => provider)
  },
}
export default extension
`,
  'index.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provider } from './index.ts'

test('is a server that is reached over https', () => {
  assert.equal(new URL(provider.baseUrl).protocol, 'https:')
  assert.notEqual(provider.defaultModel, '')
})
`,
})

const FILES: Readonly<Record<Kind, (name: string, tool: string) => Readonly<Record<string, string>>>> = {
  tool: TOOL,
  memory: MEMORY,
  hook: HOOK,
  provider: PROVIDER,
  platform: PLATFORM,
}
