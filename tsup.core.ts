// What a start needs of an app as one script, so that all that V8 compiles of it can be kept.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Script as VmScript } from 'node:vm'
import { parseSync } from 'oxc-parser'
import { type Edit, evaluateWhenUsed, type Statement, withWays } from './tsup.units.js'

/** Of esbuild's account of a bundle: each file with what it imports. */
export interface Outputs {
  readonly [path: string]: {
    readonly entryPoint?: string
    readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>
    readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[]
  }
}

/** Writes code with no space that it can do without, and with short names where nobody asks for the long ones. */
export type Pack = (code: string, hasShortNames?: boolean) => string

interface Scripts {
  /** The source files that a start imports, as esbuild names them; what these import comes with them. */
  readonly sources: readonly string[]
  /** What is needed soon after a start: a script of its own, which a start does not read. */
  readonly later: readonly string[]
  /** The bundled file whose `runKept` loads and runs the scripts. */
  readonly runner: string
  readonly pack: Pack
}

/**
 * Node keeps what V8 compiles of a module as it is loaded, which leaves out each function that is called later: two thousand of them until
 * the first request. Of a script all of it can be kept. So the chunks that a start needs become functions of one script, and what is left in
 * their files hands on what these give back, for chunks that are loaded later. One of them is evaluated when it is needed first, as before.
 */
export function writeScripts(dist: string, outputs: Outputs, { sources, later: soon, runner, pack }: Scripts): void {
  const first = chunksOf(outputs, sources, runner)
  const both = chunksOf(outputs, [...sources, ...soon], runner)
  const rest = new Set([...both].filter((name) => !first.has(name)))
  const contents = createHash('sha256')
  for (const name of [...both].sort()) contents.update(readFileSync(join(dist, name)))
  // Each script names the other, so this one is called by what both are made of: a process that an update overtakes finds its own or none.
  const later = { module: `later-${contents.digest('hex').slice(0, 16)}.js`, names: rest }
  const module = writeScript(dist, 'start', { inside: first, runner, pack, start: null, later })
  const start = { module, names: first }
  if (rest.size > 0) writeScript(dist, 'later', { inside: rest, runner, pack, start, later })
  const scripts = [start, { module: later.module, names: rest }]
  const made = new Set([...both, module, later.module])
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.js') && !file.endsWith('.script.js'))) {
    const file = join(dist, name)
    const text = readFileSync(file, 'utf8')
    const inputs = Object.entries(outputs[`dist/${name}`]?.inputs ?? {}).filter(([, one]) => one.bytesInOutput > 0)
    const hasShortNames = inputs.length > 0 && inputs.every(([path]) => SHORT_NAMED.test(path))
    writeFileSync(file, pack(made.has(name) ? text : takenFromScripts(name, text, scripts), hasShortNames))
  }
}

/** Libraries that are large, and tell nothing apart by the names of functions and classes: one is short-named as it is published. */
const SHORT_NAMED = /\/node_modules\/(?:unpdf|zod)\//

interface Script {
  /** The chunks of it. */
  readonly inside: ReadonlySet<string>
  readonly runner: string
  readonly pack: Pack
  /** The script of the start, for another one. */
  readonly start: { readonly module: string; readonly names: ReadonlySet<string> } | null
  /** The script that is read later: its chunks are taken from it, not each from a file of its own. */
  readonly later: { readonly module: string; readonly names: ReadonlySet<string> }
}

/** Gives back the name of its module. */
function writeScript(dist: string, kind: string, script: Script): string {
  const { inside, runner, pack, start, later } = script
  const chunks = [...inside].map((name) => takeApart(name, readFileSync(join(dist, name), 'utf8')))
  const beside = [...new Set(chunks.flatMap(({ imports }) => imports.map(({ from }) => from)))].filter(
    (from) => isFile(from) && !inside.has(basename(from)) && !start?.names.has(basename(from)),
  )
  const makers = chunks.map((chunk) => `${JSON.stringify(chunk.name)}:()=>{${maker(chunk, script)}}`)
  const whole = [
    '(function($url,$load,$beside){"use strict";',
    'const $taken={},$builtin=name=>$taken[name]??=process.getBuiltinModule(name),$made={},$makers={',
    // Each of hundreds of files takes its own.
    makers.join(',\n').replaceAll('process.getBuiltinModule?.(', '$builtin('),
    '},$need=name=>$made[name]??=$makers[name](),$near=async name=>$need(name),',
    `$later=async name=>(await $load("./${later.module}")).need(name);return $need})`,
  ].join('')
  const text = pack(whole)
  // It is read as one byte a letter, which is half the work. And what a function cannot hold, such as `await`, is found here.
  if (BEYOND_ASCII.test(text)) throw new Error(`The script ${kind} has letters beyond ASCII.`)
  new VmScript(text)
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const file = `${kind}-${hash}.script.js`
  const module = start ? later.module : `${kind}-${hash}.js`
  writeFileSync(join(dist, file), text)
  const modules = start ? [...beside, `./${start.module}`] : beside
  const lines = [
    start ? `import{runKept}from"./${start.module}";` : runnerText(join(dist, runner)),
    ...modules.map((from, index) => `import*as $${index} from${JSON.stringify(from)};`),
    `export const need=runKept(${JSON.stringify(file)},import.meta.url,path=>import(path),`,
    `{${modules.map((from, index) => `${JSON.stringify(from)}:$${index}`).join(',')}});`,
  ]
  writeFileSync(join(dist, module), lines.join(''))
  for (const { name, exports } of chunks) {
    // Under names of their own: one of them may be `default`.
    const taken = exports.map((one, index) => `${one.name}:$${index}`).join(',')
    const renamed = exports.map((one, index) => `$${index} as ${one.name}`).join(',')
    const stub = `import{need}from"./${module}";const{${taken}}=need(${JSON.stringify(name)});export{${renamed}};`
    if (parseSync(name, stub).errors.length > 0) throw new Error(`What is left of ${name} is no module.`)
    writeFileSync(join(dist, name), stub)
  }
  return module
}

/** The runner as a part of the module that runs the start, where it is one file less. */
function runnerText(file: string): string {
  const text = readFileSync(file, 'utf8')
  rmSync(file)
  return text.replaceAll(/(import\s*(?:[^"]*from\s*)?")\.\.\//g, '$1./')
}

/** A script's module and the chunks that are in it. */
interface Scripted {
  readonly module: string
  readonly names: ReadonlySet<string>
}

/** What a file takes of the scripts, it takes from them when it uses it, and not from the files that hand it on. */
function takenFromScripts(name: string, text: string, scripts: readonly Scripted[]): string {
  const { imports, exports, body, calls } = takeApart(name, text)
  const holder = (path: string) => scripts.find(({ names }) => isFile(path) && names.has(basename(path)))
  const again = new Set(exports.map(({ local }) => local))
  const [edits, ways, lines]: [Edit[], Map<string, string>, string[]] = [[], new Map(), []]
  for (const [index, { from, entries, start, end }] of imports.entries()) {
    const held = holder(from)
    if (!held) continue
    edits.push({ start, end, by: `import{need as $need${index}}from"./${held.module}";` })
    lines.push(`let $n${index};const $i${index}=()=>$n${index}??=$need${index}(${JSON.stringify(basename(from))});`)
    for (const { name: taken, local } of entries)
      if (again.has(local)) lines.push(`const ${local}=$i${index}().${taken};`)
      else ways.set(local, `$i${index}().${taken}`)
  }
  for (const { start, path, end } of calls) {
    const held = path === null ? undefined : holder(`./${path}`)
    const by = `import("./${held?.module}").then(({need})=>need(${JSON.stringify(path)}))`
    if (held) edits.push({ start, end, by })
  }
  if (edits.length === 0) return text
  const [first = ''] = /^#!.*\n/.exec(text) ?? []
  return first + lines.join('') + withWays(text, body, ways, edits).slice(first.length)
}

const isFile = (path: string) => path.startsWith('./')

/** The files of those sources and of all they import, but for what is also needed where nothing of a start is loaded. */
function chunksOf(outputs: Outputs, sources: readonly string[], runner: string): ReadonlySet<string> {
  const files = Object.entries(outputs).map(([path, output]) => ({ name: path.replace(/^dist\//, ''), output }))
  const named = new Map(files.map(({ name, output }) => [name, output]))
  const imported = (name: string) =>
    (named.get(name)?.imports ?? []).flatMap(({ path, kind, external }) =>
      kind === 'import-statement' && !external ? [path.replace(/^dist\//, '')] : [],
    )
  const reached = (name: string, seen = new Set<string>()) => {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const next of imported(name)) reached(next, seen)
    return seen
  }
  const holds = (source: string) => files.find(({ output }) => (output.inputs[source]?.bytesInOutput ?? 0) > 0)?.name
  const entry = (source: string) => files.find(({ output }) => output.entryPoint === source)?.name
  const wanted = new Set(
    sources.flatMap((source) => {
      const found = [holds(source), entry(source)].filter((name) => name !== undefined)
      if (found.length === 0) throw new Error(`No chunk holds ${source}.`)
      return found
    }),
  )
  const core = holds(sources[0]!)!
  const elsewhere = new Set([runner, ...named.keys()].filter((name) => name === runner || !reached(name).has(core)))
  const outside = new Set(
    [...elsewhere]
      .filter((name) => named.get(name)?.entryPoint !== undefined && !wanted.has(name))
      .flatMap((name) => [...reached(name)]),
  )
  return new Set([...wanted].flatMap((name) => [...reached(name)]).filter((name) => !outside.has(name)))
}

interface Import {
  readonly from: string
  readonly entries: readonly { readonly name: string; readonly local: string }[]
  readonly start: number
  readonly end: number
}

interface Chunk {
  readonly name: string
  readonly imports: readonly Import[]
  readonly exports: readonly { readonly name: string; readonly local: string }[]
  readonly text: string
  readonly body: readonly Statement[]
  readonly comments: readonly { readonly type: string; readonly value: string; readonly start: number }[]
  readonly changed: ReadonlySet<string>
  readonly edits: readonly Edit[]
  readonly calls: readonly {
    readonly start: number
    readonly end: number
    readonly at: number
    readonly path: string | null
  }[]
}

function takeApart(name: string, text: string): Chunk {
  const { module, program, errors, comments } = parseSync(name, text)
  if (errors.length > 0) throw new Error(`${name} cannot be read: ${errors[0]!.message}`)
  const imports = module.staticImports.map(({ moduleRequest, entries, start, end }) => ({
    from: moduleRequest.value,
    start,
    end,
    entries: entries.map(({ importName, localName }) => {
      if (importName.kind === 'NamespaceObject' && isFile(moduleRequest.value))
        throw new Error(`${name} imports ${moduleRequest.value} as a whole.`)
      return {
        name: importName.kind === 'Default' ? 'default' : String(importName.name),
        local: localName.value,
      }
    }),
  }))
  // What is imported and exported again is told by where it comes from.
  const taken = new Map(
    imports.flatMap(({ from, entries }) => entries.map((one) => [`${from} ${one.name}`, one.local] as const)),
  )
  const exports = module.staticExports
    .flatMap(({ entries }) => entries)
    .map(({ exportName, localName, importName, moduleRequest }) => {
      const local = localName.name ?? taken.get(`${moduleRequest?.value} ${importName.name}`)
      const isDefault = exportName.kind === 'Default'
      if (!(exportName.name || isDefault) || !local)
        throw new Error(`${name} hands something on that it does not hold.`)
      return { name: exportName.name ?? 'default', local }
    })
  const { changed, patterns } = look(program)
  const edits = [
    ...patterns.map(({ start, end }) => ({ start, end, by: inAscii(text.slice(start, end)) })),
    ...module.importMetas.map(({ start, end }) => ({ start, end: end + '.url'.length, by: '$url' })),
  ]
  const calls = module.dynamicImports.map(({ start, end, moduleRequest }) => ({
    start,
    end,
    at: moduleRequest.start,
    path: /^"\.\/([^"]+)"$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1] ?? null,
  }))
  return { name, imports, exports, text, body: program.body, comments, changed, edits, calls }
}

/** The body of the function that evaluates a chunk. */
function maker(chunk: Chunk, { inside, start, later }: Script): string {
  const from = (path: string) => {
    if (!isFile(path))
      return `{default:process.getBuiltinModule("node:module").createRequire($url)(${JSON.stringify(path)})}`
    const name = basename(path)
    if (inside.has(name)) return `$need(${JSON.stringify(name)})`
    if (start?.names.has(name)) return `$beside[${JSON.stringify(`./${start.module}`)}].need(${JSON.stringify(name)})`
    return `$beside[${JSON.stringify(path)}]`
  }
  const isOurs = (name: string) => inside.has(name) || start?.names.has(name) === true
  const [heads, imported]: [string[], Map<string, string>] = [[], new Map()]
  for (const [index, { from: path, entries }] of chunk.imports.entries()) {
    if (isFile(path) && isOurs(basename(path))) {
      heads.push(`let $n${index};const $i${index}=()=>$n${index}??=${from(path)};`)
      for (const { name, local } of entries) imported.set(local, `$i${index}().${name}`)
    } else if (entries.length > 0)
      heads.push(`const{${entries.map(({ name, local }) => `${name}:${local}`).join(',')}}=${from(path)};`)
  }
  const loads = chunk.calls.map(({ start, at, path }) => {
    const way = path === null ? null : inside.has(path) ? '$near' : later.names.has(path) ? '$later' : null
    return path === null || way === null
      ? { start, end: at, by: '$load(' }
      : { start, end: at + path.length + 4, by: `${way}(${JSON.stringify(path)}` }
  })
  return `${heads.join('')}${evaluateWhenUsed({ ...chunk, imported, edits: [...chunk.edits, ...loads] })}`
}

interface Found {
  /** Names that something is assigned to, wherever: one that only looks like an export's costs another name. */
  readonly changed: Set<string>
  /** Regular expressions with letters that a bundle leaves as they are. */
  readonly patterns: { readonly start: number; readonly end: number }[]
}

interface Node {
  readonly type?: string
  readonly start: number
  readonly end: number
  readonly left?: { readonly name?: string }
  readonly argument?: { readonly name?: string }
  readonly regex?: { readonly pattern: string }
}

function look(value: unknown, found: Found = { changed: new Set(), patterns: [] }): Found {
  if (typeof value !== 'object' || value === null) return found
  const { type, left, argument, regex, start, end } = value as Node
  const name = type === 'AssignmentExpression' ? left?.name : type === 'UpdateExpression' ? argument?.name : undefined
  if (name !== undefined) found.changed.add(name)
  if (regex && BEYOND_ASCII.test(regex.pattern)) found.patterns.push({ start, end })
  for (const child of Object.values(value)) look(child, found)
  return found
}

const BEYOND_ASCII = /[^\0-\x7F]/

const inAscii = (pattern: string) =>
  pattern.replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
