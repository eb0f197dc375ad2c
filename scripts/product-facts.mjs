// What Hermes takes and has, read from its sources: commands and flags, slash commands, tools, toolsets, keys, variables, exit codes. Used by
// generate.mjs for docs/reference and docs/parity.md.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Packages are taken as sources, by the condition their manifests name for it. */
async function importWorkspace(root, file) {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const isOwn = /^\.\.?\//.test(specifier) && context.parentURL?.endsWith('.ts')
      const conditions = [...context.conditions, '@hermes/source']
      return next(isOwn ? specifier.replace(/\.js$/, '.ts') : specifier, { ...context, conditions })
    },
  })
  // What the bundle puts in its place.
  globalThis.__HERMES_VERSION__ ??= JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8')).version
  try {
    return { module: await import(pathToFileURL(join(root, file)).href), end: () => hooks.deregister() }
  } catch (error) {
    hooks.deregister()
    throw error
  }
}

/** `null` where there is no such workspace. */
export async function productFacts(root) {
  if (!existsSync(join(root, 'apps/cli/src/program.ts'))) return null
  const { commands, exitCodes } = await commandFacts(root)
  const facts = { commands, exitCodes, ...(await homeFacts(root)), variables: await variableFacts(root) }
  return { ...facts, keys: keyFacts(root), actions: actionFacts(root) }
}

async function commandFacts(root) {
  const { module, end } = await importWorkspace(root, 'apps/cli/src/program.ts')
  try {
    const out = { write: () => undefined, columns: () => 80 }
    const program = module.buildProgram(() => undefined, { stdout: out, stderr: out })
    const { EXIT } = await import(pathToFileURL(join(root, 'apps/cli/src/errors.ts')).href)
    return { commands: describe(program, []), exitCodes: EXIT }
  } finally {
    end()
  }
}

/** A command and all below it, each with what follows `hermes`. */
function describe(command, above) {
  const path = above.length === 0 && command.parent === null ? [] : [...above, command.name()]
  const flags = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags: text, short, long, description, argChoices, defaultValue }) => ({
      ...{ text, names: [short, long].filter(Boolean), about: description },
      ...{ choices: argChoices ?? [], value: defaultValue },
    }))
  const takes = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const own = { path, takes, about: command.description(), flags }
  return [own, ...command.commands.flatMap((inner) => describe(inner, path))]
}

async function homeFacts(root) {
  const home = mkdtempSync(join(tmpdir(), 'hermes-reference-'))
  const { module, end } = await importWorkspace(root, 'packages/runtime/src/index.ts')
  try {
    const place = { home: join(home, '.hermes'), userHome: home, cwd: home, tempDir: home, user: 'ada', env: {} }
    const runtime = await module.openRuntime(place)
    try {
      const slash = runtime.extensions.list('command').map(({ item }) => item)
      const tools = (await runtime.tools()).map(({ name, toolset, description }) => ({ name, toolset, description }))
      const { shownCommand } = await import(pathToFileURL(join(root, 'packages/commands/src/arguments.ts')).href)
      return {
        slash: slash
          .map(({ name, aliases = [], summary, scope = 'owner', duringRun = 'waits', ...command }) => ({
            ...{ name, aliases, summary, scope, duringRun },
            shown: shownCommand({ name, summary, ...command }),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
        tools,
        toolsets: Object.entries(runtime.toolsets()).map(([name, set]) => ({ name, ...set })),
      }
    } finally {
      await runtime.close()
    }
  } finally {
    end()
    rmSync(home, { recursive: true, force: true })
  }
}

const READ =
  /(?:\benv|\bvariables|\bsecrets(?:\.values)?|\bvalues)(?:\?\.)?\[['"]([A-Z][A-Z0-9_]{2,})['"]\]|\benv\.([A-Z][A-Z0-9_]{2,})\b/g

/** Keys and addresses of services, each beside its service. */
const OF_SERVICE = /\b(?:key|url)Variable: '([A-Z][A-Z0-9_]{2,})'/g
/** Sources that have names in lists. */
const LISTING = [
  'packages/runtime/src/environment/cloud-options.ts',
  'packages/transports/src/wires/bedrock-converse/aws-credential.ts',
]
const LISTED = /'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/g

/** Names that sources ask the environment or `.env` for, those of model providers, and those of keys of `terminal`. */
async function variableFacts(root) {
  const files = globSync('{apps,packages}/*/src/**/*.ts', { cwd: root }).filter(
    (file) => !/\.test\.ts$|__fixtures__|testkit|\/testing\//.test(file),
  )
  const read = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const found = [READ, OF_SERVICE, ...(LISTING.includes(file) ? [LISTED] : [])].map((names) => [
      ...text.matchAll(names),
    ])
    return found.flat().map((match) => match[1] ?? match[2])
  })
  const { module, end } = await importWorkspace(root, 'packages/transports/src/index.ts')
  end()
  const keys = module.PROVIDERS.flatMap(({ id, keyVariables, sharedKeyVariables = [] }) =>
    [...keyVariables, ...sharedKeyVariables].map((name) => [name, id]),
  )
  const terminal = keyFacts(root).flatMap((key) =>
    /^terminal\.\w+$/.test(key) && key !== 'terminal.cwd' ? [key.toUpperCase().replace('.', '_')] : [],
  )
  return { read: [...new Set(read)].sort(), keys, terminal }
}

/** What keys do in a conversation, by the names of `display.keys`, each with its keys. */
function actionFacts(root) {
  const text = readFileSync(join(root, 'apps/cli/src/editor/bindings.ts'), 'utf8')
  const [, listed = ''] = /const ACTIONS[^{]*\{\n([\s\S]*?)\n\}/.exec(text) ?? []
  return [...listed.matchAll(/^ {2}'?([\w-]+)'?: \[(.*)\],$/gm)].map(([, name, keys]) => ({
    name,
    keys: keys.split(', ').map((key) => key.slice(1, -1)),
  }))
}

function keyFacts(root) {
  const schema = JSON.parse(readFileSync(join(root, 'packages/config/generated/config.schema.json'), 'utf8'))
  const visit = (node, path) => [
    ...(path === '' ? [] : [path]),
    ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) =>
      visit(inner, path === '' ? name : `${path}.${name}`),
    ),
    ...(typeof node.additionalProperties === 'object' ? visit(node.additionalProperties, `${path}.NAME`) : []),
  ]
  return visit(schema, '')
}
