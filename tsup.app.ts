// How apps are bundled: everything in lazy chunks, only what the manifest names as a dependency stays outside, and the engine of SQLite.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Options } from 'tsup'
import { type Outputs, type Pack, writeScripts } from './tsup.core.js'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]
type Build = Parameters<Plugin['setup']>[0]

const banner = `const require = process.getBuiltinModule?.('node:module').createRequire(import.meta.url);`

/** What an app may want of its build. */
interface AppBundle {
  /**
   * Modules that most starts come to; what each needs becomes one file instead of many. The first is named by every lazy chunk, the
   * others by those of their own folder. Relative to the app.
   */
  readonly cores?: readonly string[]
  /** What most starts come to besides the cores, which is made one script with them, and the file whose `runKept` runs it. Relative to the app. */
  readonly start?: { readonly with: readonly string[]; readonly later: readonly string[]; readonly runner: string }
  /** Folders whose lazy chunks a process of its own loads: they name no core. Relative to the app. */
  readonly apart?: readonly string[]
  /** Runs once the bundle is written. */
  readonly afterwards?: () => void
}

/** The build of the app in the current folder. */
export function appBundle({ cores = [], apart = [], start, afterwards }: AppBundle = {}): Options {
  const { version, dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string
    dependencies?: Record<string, string>
  }
  const outside = Object.keys(dependencies).filter((name) => name !== ENGINE)
  const packing = takePacking()
  return {
    entry: ['src/bin.ts', 'src/main.ts', ...(start ? [start.runner] : [])],
    format: 'esm',
    target: 'node22',
    platform: 'node',
    splitting: true,
    clean: true,
    dts: false,
    // `node:sqlite` has no other name.
    removeNodeProtocol: false,
    metafile: true,
    noExternal: [new RegExp(`^(?!(?:${outside.join('|')})$)`)],
    define: { __HERMES_VERSION__: JSON.stringify(version) },
    plugins: [
      { name: 'require-where-called', renderChunk: (code) => ({ code: requireWhereCalled(code) }) },
      {
        name: 'plain-tables',
        renderChunk: (code) => ({ code: start === undefined && packing.hasTable(code) ? packing.pack(code) : code }),
      },
    ],
    esbuildPlugins: [
      takeBuiltins(),
      takeEngine(),
      takeOnce(),
      leaveOut(),
      keepNames(),
      packing.plugin,
      ...(cores.length === 0 ? [] : [keepTogether(absolute(cores), absolute(apart))]),
    ],
    esbuildOptions: (options) => {
      options.legalComments = 'none'
      // Text of one byte a letter is read and compiled faster.
      options.charset = 'ascii'
      // Errors of libraries are told apart by the names of their classes; `keepNames` would pay for that in every function at run time.
      options.minifySyntax = true
      // The scripts of a start are made from chunks that say which module stands where.
      options.minifyWhitespace = start === undefined
      options.conditions = ['@hermes/source']
    },
    onSuccess: async () => {
      writeLicences()
      if (start) {
        const runner = start.runner.replace(/^src\//, '').replace(/ts$/, 'js')
        const sources = [...cores, ...start.with]
        writeScripts('dist', bundled().outputs, { sources, later: start.later, runner, pack: packing.pack })
      }
      rmSync('dist/metafile-esm.json')
      afterwards?.()
    },
  }
}

const absolute = (paths: readonly string[]) => paths.map((path) => resolve(path))

/**
 * Code that several lazy chunks share is cut into a file for each set of them, and every file costs a start. A lazy chunk that also names
 * the core needs nothing the core has not loaded already, and leaves the core in one piece.
 */
function keepTogether(cores: readonly string[], apart: readonly string[]): Plugin {
  const name = 'keep-together'
  let lazy: ReadonlySet<string> = new Set()
  const coresOf = (path: string) =>
    cores.filter((core, index) => core !== path && (index === 0 || path.startsWith(`${dirname(core)}/`)))
  return {
    name,
    setup: (build) => {
      build.onStart(async () => {
        lazy = new Set([...(await lazyFiles(build, name))].filter((path) => !apart.includes(dirname(path))))
      })
      // A package may say that its files do nothing when they are imported; a core would then not be.
      const isCore = new RegExp(`/(?:${cores.map((core) => basename(core, '.ts')).join('|')})\\.[jt]s$`)
      build.onResolve({ filter: isCore }, ({ path, resolveDir }) => {
        const core = resolve(resolveDir, path).replace(/\.js$/, '.ts')
        return cores.includes(core) ? { path: core, sideEffects: true } : undefined
      })
      build.onLoad({ filter: OWN }, async ({ path }) => {
        if (!lazy.has(path)) return undefined
        const imports = coresOf(path).map((core) => `\nimport ${JSON.stringify(core)}`)
        return { contents: `${await readFile(path, 'utf8')}${imports.join('')}\n`, loader: 'ts' }
      })
    },
  }
}

const OWN = /\/(?:packages|apps)\/[^/]+\/src\/.*\.ts$/

/** Our own files that the app imports when it needs them. A build tells: a file may be met by an ordinary import first. */
async function lazyFiles(build: Build, self: string): Promise<ReadonlySet<string>> {
  const plugins = build.initialOptions.plugins?.filter(({ name }) => name !== self) ?? []
  const { metafile } = await build.esbuild.build({ ...build.initialOptions, plugins, write: false, metafile: true })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const paths = imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => resolve(path))
  return new Set(paths.filter((path) => OWN.test(path)))
}

const BEYOND_ASCII = /\\u[0-9a-fA-F]{4}|[^\0-\x7F]/g
/** No text that a person wrote has so many. */
const TABLE_LETTERS = 20_000

/** Code without space that it can do without, and tables of characters, which no start loads, as these themselves: that is half as long. */
function takePacking(): { readonly plugin: Plugin; hasTable(code: string): boolean; pack: Pack } {
  let esbuild: Build['esbuild'] | null = null
  const hasTable = (code: string) => (code.match(BEYOND_ASCII)?.length ?? 0) >= TABLE_LETTERS
  return {
    plugin: { name: 'packing', setup: (build) => void (esbuild = build.esbuild) },
    hasTable,
    pack: (code, minifyIdentifiers = false) => {
      const charset = hasTable(code) ? 'utf8' : 'ascii'
      const options = { legalComments: 'none', minifyWhitespace: true, target: 'node22' } as const
      return esbuild!.transformSync(code, { ...options, charset, minifyIdentifiers }).code
    },
  }
}

/** Turndown brings a DOM for pages as text; it is given elements, as in browsers, for which its manifest leaves that DOM out too. */
function leaveOut(): Plugin {
  return {
    name: 'leave-out',
    setup: (build) => {
      build.onResolve({ filter: /^@mixmark-io\/domino$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
      build.onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'module.exports = {}' }))
    },
  }
}

const ENGINE = 'better-sqlite3'

/** The engine of SQLite is one file for each machine, found in its package; the fourteen files around it, which each start needs, come with ours. */
function takeEngine(): Plugin {
  const found = `module.exports = require('node:module').createRequire(require.resolve('${ENGINE}'))('./binding')`
  return {
    name: 'take-engine',
    setup: (build) => {
      build.onResolve({ filter: /^\.\/binding$/ }, ({ path, importer }) =>
        importer.includes(`/node_modules/${ENGINE}/lib/`) ? { path, namespace: 'engine' } : undefined,
      )
      build.onLoad({ filter: /./, namespace: 'engine' }, () => ({ contents: found }))
      build.onResolve({ filter: new RegExp(`^${ENGINE}$`) }, ({ kind, path }) =>
        kind === 'require-resolve' ? { path, external: true } : undefined,
      )
    },
  }
}

/** Both halves of the protocol's SDK have the same validator, which is long: the one of clients is used for both. */
function takeOnce(): Plugin {
  return {
    name: 'take-once',
    setup: (build) => {
      const inMcp = createRequire(resolve(import.meta.dirname, 'packages/mcp/package.json'))
      const folder = dirname(inMcp.resolve('@modelcontextprotocol/client'))
      build.onResolve({ filter: /^\.\/ajvProvider-[^/]*\.mjs$/ }, ({ path, importer, resolveDir }) => {
        if (!importer.includes('/@modelcontextprotocol/server/')) return undefined
        const own = withoutHashes(readFileSync(join(resolveDir, path), 'utf8'))
        const same = readdirSync(folder).find(
          (name) =>
            /^ajvProvider-[^/]*\.mjs$/.test(name) && withoutHashes(readFileSync(join(folder, name), 'utf8')) === own,
        )
        return same === undefined ? undefined : { path: join(folder, same) }
      })
    },
  }
}

/** A file of a bundle, whatever the files beside it are called. */
const withoutHashes = (code: string) => code.replace(/(["=/][\w./]*-)\w{8}(\.mjs)/g, '$1$2')

/**
 * Takes what is imported of Node's own modules from `process.getBuiltinModule`. An `import` of one makes an ES module around it, which reads
 * every property it has and loads what stands behind each: a tenth of the time until the first request.
 * Each importer has a copy of its own, so that no chunk is made for what two of them take.
 */
function takeBuiltins(): Plugin {
  let copies = 0
  return {
    name: 'take-builtins',
    setup: (build) => {
      build.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ kind, path }) => {
        if (kind !== 'import-statement' || !isBuiltin(path)) return undefined
        return { path: `${path} ${copies++}`, namespace: 'builtin', pluginData: path, sideEffects: false }
      })
      build.onLoad({ filter: /./, namespace: 'builtin' }, ({ pluginData: path }: { pluginData: string }) => {
        const all = Object.entries(process.getBuiltinModule(path) ?? {})
        const names = all.filter(([name]) => isName.test(name) && name !== 'default')
        const lines = names.map(([name, value]) => {
          const taken = LATE.has(path) && isPlainFunction(value) ? 'late' : 'take'
          return `const $${name} = /* @__PURE__ */ ${taken}('${name}')\nexport { $${name} as ${name} }`
        })
        return { contents: [LATE.has(path) ? lateHead(path) : head(path), ...lines].join('\n'), loader: 'js' }
      })
    },
  }
}

const head = (path: string) => `
const all = /* @__PURE__ */ process.getBuiltinModule?.('${path}')
const take = (name) => all?.[name]
export default all
`

/** What few starts call before their first request, and what costs two milliseconds to load. */
const LATE: ReadonlySet<string> = new Set(['node:child_process', 'node:zlib'])

const isPlainFunction = (value: unknown) => typeof value === 'function' && !/^[A-Z]/.test(value.name)

/** Functions load the module with their first call. `promisify` asks a function for the one to take in its place. */
const lateHead = (path: string) => `
const all = () => process.getBuiltinModule('${path}')
const take = (name) => all()[name]
const mark = Symbol.for('nodejs.util.promisify.custom')
const late = (name) => Object.defineProperty((...args) => take(name)(...args), mark, { get: () => take(name)[mark] })
const whole = /* @__PURE__ */ new Proxy({}, { get: (_, name) => take(name) })
export default whole
`

/** CommonJS packages inside an ES module call require() for Node's own modules. A chunk without them is given none. */
function requireWhereCalled(code: string): string {
  if (!/\brequire\b/.test(code)) return code
  const [head = ''] = /^#!.*\n/.exec(code) ?? []
  return `${head}${banner}\n${code.slice(head.length)}`
}

const isName = /^[A-Za-z_$][\w$]*$/

/**
 * A CommonJS package that is loaded lazily keeps its names. A bundle gives such a chunk a default export alone, so that
 * `const { parse } = await import('yaml')` is what it is in Node when it runs from sources, and undefined in what people install.
 */
function keepNames(): Plugin {
  const named = Symbol('named')
  const load = createRequire(import.meta.url)
  return {
    name: 'keep-names',
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, async ({ kind, path, pluginData, ...rest }) => {
        if (kind !== 'dynamic-import' || pluginData === named || path.startsWith('@hermes/') || isBuiltin(path)) return
        const resolved = await build.resolve(path, { ...rest, kind, pluginData: named })
        const isOurs = resolved.errors.length === 0 && !resolved.external && resolved.namespace === 'file'
        return isOurs && isCommonJs(resolved.path) ? { path: resolved.path, namespace: 'named' } : resolved
      })
      build.onLoad({ filter: /./, namespace: 'named' }, ({ path }) => {
        const names = Object.keys(load(path) as object).filter((name) => name !== 'default' && isName.test(name))
        const lines = names.map((name) => `const $${name} = all.${name}\nexport { $${name} as ${name} }`)
        const contents = [`const all = require(${JSON.stringify(path)})`, 'export default all', ...lines].join('\n')
        return { contents, resolveDir: dirname(path), loader: 'js' }
      })
    },
  }
}

function isCommonJs(path: string): boolean {
  if (!/\.c?js$/.test(path) || path.endsWith('.mjs')) return false
  const isModule = /^\s*(?:(?:import|export)\s+[\w{*"']|(?:import|export)[{*"'])/m
  return path.endsWith('.cjs') || !isModule.test(readFileSync(path, 'utf8'))
}

const bundled = () =>
  JSON.parse(readFileSync('dist/metafile-esm.json', 'utf8')) as { inputs: Record<string, unknown>; outputs: Outputs }

/** One file with the licence of every package that went into the bundle. */
function writeLicences(): void {
  const { inputs } = bundled()
  const folders = new Set(
    Object.keys(inputs)
      .filter((input) => !/^(?:builtin|left-out):/.test(input))
      .flatMap((input) => packageFolder(resolve(input.replace(/^named:/, ''))) ?? []),
  )
  const licences = [...folders].map(licenceOf).sort((left, right) => left.head.localeCompare(right.head, 'en'))
  // Most are one of few texts to the letter, but for spaces: each stands there once, below all it is for.
  const texts = Map.groupBy(licences, ({ text }) => text.replace(/\s+/g, ' ').trim()).values()
  const parts = [...texts].map((same) => `${same.map(({ head }) => `${head}\n`).join('')}\n${same[0]!.text}`)
  writeFileSync('dist/THIRD-PARTY-LICENSES.txt', parts.join(`\n${'-'.repeat(80)}\n\n`))
}

function packageFolder(file: string): string | null {
  const at = file.lastIndexOf('/node_modules/')
  if (at < 0) return null
  const [scope = '', name = ''] = file.slice(at + '/node_modules/'.length).split('/')
  return join(file.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope)
}

/** What a package is, in a line, and its licence. */
function licenceOf(folder: string): { readonly head: string; readonly text: string } {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: string
  }
  const head = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see text'})`
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE', 'License']) {
    try {
      return { head, text: readFileSync(join(folder, name), 'utf8') }
    } catch {}
  }
  return { head, text: 'No licence text in its package; licence as named above.\n' }
}
