// node scripts/measure.mjs [--root DIR] [--no-hops] [--check]: counts what the house is made of, prints a table and writes bench/results/measure-DATE.json of
// this clone. --root measures another clone, whose dependencies must be installed for the hops. --check counts no hops and writes nothing; it
// names the functions that only call another without a reason.
//
// lines       of packages/*/src and apps/*/src without blank lines and comments; tests and __fixtures__ apart. Generated files count.
// exports     declarations with `export` in those sources; what a file only hands on does not count again.
// options     own members of each exported interface or object type whose name ends in Options.
// short       files of fewer than 16 lines, blank lines and comments included.
// forwarding  named functions and methods whose body is one call that passes on nothing but their own parameters or `this`. Its form shows what
//             one is there for: a method of a class that implements or extends something (port), a way to what a class keeps private (private), a
//             method that goes elsewhere with its object (bound), other parameters or another result than the function that is called has
//             (fitted), a getter (live), a question that a constant such as a pattern answers (question), a type that is narrowed (guard).
//             What remains has no reason.
// hops        functions of the workspace between the entry of the program and its first request in `hermes chat -q`.
// Exit codes: 0 measured; 1 nothing was read, the hops could not be counted, or --check found a function; 2 wrong option.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { countHops } from './measure/count-hops.mjs'
import { readOptions } from './options.mjs'

const flag = /** @type {const} */ ({ type: 'boolean' })
const { values } = readOptions(import.meta.filename, { root: { type: 'string' }, 'no-hops': flag, check: flag })
const here = resolve(import.meta.dirname, '..')
const root = resolve(values.root ?? here)
const SHORT = 16
/** Rooms of parts that joined after the goals for size were set (decision 0089); shown apart too. */
const JOINED_LATER = [
  ...['browser', 'hooks', 'mcp', 'platform', 'platforms', 'plugins', 'web'].map((name) => `packages/${name}/`),
  ...['apps/cli/src/import-agent/', 'apps/cli/src/markdown/', 'apps/cli/src/upkeep/', 'apps/gateway/src/platforms/'],
]

const files = globSync('{packages,apps}/*/src/**/*.{ts,tsx}', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map(readFile)
if (files.length === 0) {
  console.error(`measure: read no TypeScript file under ${root}`)
  process.exit(1)
}
const sources = files.filter(({ isTest }) => !isTest)
const apps = sources.filter(({ path }) => path.startsWith('apps/'))
const sum = (some, pick) => some.reduce((total, file) => total + pick(file), 0)
if (values.check) {
  const without = sources.flatMap(({ forwarding }) => forwarding).filter(({ reason }) => reason === null)
  for (const { at, name } of without) console.error(`${at} ${name} only calls another function`)
  process.exit(without.length > 0 ? 1 : 0)
}
const hops = values['no-hops'] ? null : await countHops(root)
const figures = {
  sourceFiles: sources.length,
  sourceLines: sum(sources, ({ lines }) => lines),
  testLines: sum(files, (file) => (file.isTest ? file.lines : 0)),
  appLines: Object.fromEntries(
    [...new Set(apps.map(({ app }) => app))].map((app) => [
      app,
      sum(apps, (file) => (file.app === app ? file.lines : 0)),
    ]),
  ),
  exports: sum(sources, ({ exports }) => exports),
  shortFiles: sources.filter(({ allLines }) => allLines < SHORT).map(({ path }) => path),
  forwarding: sources.flatMap(({ forwarding }) => forwarding),
  options: sources.flatMap(({ options }) => options).sort((a, b) => b.count - a.count),
  hops,
}

const earlier = sources.filter(({ path }) => !JOINED_LATER.some((room) => path.startsWith(room)))
const rows = [
  ['source lines', figures.sourceLines],
  ['test lines', figures.testLines],
  ...Object.entries(figures.appLines).map(([app, lines]) => [`lines of ${app}`, lines]),
  ['lines of the apps together', sum(apps, ({ lines }) => lines)],
  [
    '  without rooms that joined later',
    sum(
      apps.filter((file) => earlier.includes(file)),
      ({ lines }) => lines,
    ),
  ],
  ['source files', figures.sourceFiles],
  [`files of fewer than ${SHORT} lines`, figures.shortFiles.length],
  ['  without rooms that joined later', earlier.filter(({ allLines }) => allLines < SHORT).length],
  ['exports', figures.exports],
  ['  without rooms that joined later', sum(earlier, ({ exports }) => exports)],
  ['  for each 1,000 lines', Math.round((figures.exports / figures.sourceLines) * 1_000)],
  ['functions that only call another', figures.forwarding.length],
  ['of these without a reason', figures.forwarding.filter(({ reason }) => reason === null).length],
  ...figures.options.slice(0, 8).map(({ name, count }) => [`fields of ${name}`, count]),
  ...(hops === null ? [] : [['hops from `chat -q` to the request', hops.length]]),
]
for (const [title, figure] of rows) console.log(`${title.padEnd(40)} ${String(figure).padStart(7)}`)
const date = new Date().toISOString()
const results = join(here, 'bench/results')
mkdirSync(results, { recursive: true })
const path = join(results, `measure-${date.slice(0, 10)}.json`)
writeFileSync(path, `${JSON.stringify({ date, ...figures }, null, 2)}\n`)
console.log(`\nWritten to ${path}`)

function readFile(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const isTest = /\.test\.tsx?$|\/__fixtures__\//.test(path)
  const { program, comments } = parseSync(path, text)
  const facts = { path, isTest, app: path.split('/').slice(0, 2).join('/'), allLines: text.split('\n').length - 1 }
  return { ...facts, lines: codeLines(text, comments), ...(isTest ? {} : readProgram(path, text, program)) }
}

function codeLines(text, comments) {
  let code = ''
  let from = 0
  for (const { start, end } of comments) {
    code += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '')
    from = end
  }
  return (code + text.slice(from)).split('\n').filter((line) => line.trim() !== '').length
}

function readProgram(path, text, program) {
  let exports = 0
  const options = []
  const forwarding = []
  const lineAt = (offset) => text.slice(0, offset).split('\n').length
  const names = namesIn(program)
  const addForwarding = (name, node, place) => {
    const call = onlyCall(node)
    if (call)
      forwarding.push({
        at: `${path}:${lineAt(node.start)}`,
        name,
        reason: reasonOf({ name, node, ...call, names, ...place }),
      })
  }
  const addOptions = (name, members) => {
    if (/Options$/.test(name)) options.push({ name, path, count: members.length })
  }
  new Visitor({
    ExportDefaultDeclaration() {
      exports++
    },
    ExportNamedDeclaration({ declaration }) {
      if (!declaration) return
      exports += declaration.declarations?.length ?? 1
      if (declaration.type === 'TSInterfaceDeclaration') addOptions(declaration.id.name, declaration.body.body)
      const { typeAnnotation } = declaration
      if (typeAnnotation?.type === 'TSTypeLiteral') addOptions(declaration.id.name, typeAnnotation.members)
    },
    FunctionDeclaration(node) {
      addForwarding(node.id?.name ?? 'default', node)
    },
    ClassDeclaration({ body, superClass, implements: ports }) {
      for (const { type, kind, key, value } of body.body)
        if (type === 'MethodDefinition' && kind === 'method')
          addForwarding(key.name ?? 'method', value, { isPort: superClass !== null || ports.length > 0 })
    },
    VariableDeclarator({ id, init }) {
      if (init?.type === 'ArrowFunctionExpression') addForwarding(id.name, init, { isVariable: true })
    },
    Property({ kind, key, value }) {
      if (value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression')
        addForwarding(key.name ?? 'property', value, { isMember: true, isGetter: kind === 'get' })
    },
  }).visit(program)
  return { exports, options, forwarding }
}

/** What a function calls, when all it does is to call it with its own parameters, and whether these are all of them; `null` otherwise. */
function onlyCall({ params, body }) {
  if (!body) return null
  let result = body
  let isVoid = false
  if (body.type === 'BlockStatement') {
    if (body.body.length !== 1) return null
    result = body.body[0].argument ?? body.body[0].expression
  }
  while (
    result &&
    /^(AwaitExpression|ChainExpression|TSNonNullExpression|TSAsExpression|UnaryExpression)$/.test(result.type)
  ) {
    if (result.type === 'UnaryExpression' && result.operator !== 'void') return null
    isVoid ||= result.type === 'UnaryExpression'
    result = result.argument ?? result.expression
  }
  if (result?.type !== 'CallExpression') return null
  // A call of what a call gave is more than handing on.
  for (
    let callee = result.callee;
    callee.type !== 'Identifier' && callee.type !== 'ThisExpression';
    callee = callee.object
  ) {
    if (callee.type !== 'MemberExpression' || (callee.computed && callee.property.type !== 'Literal')) return null
  }
  const names = params.map((param) => (param.parameter ?? param.argument ?? param.left ?? param).name)
  const own = new Set(names)
  const isHandedOn = (argument) => {
    const input = argument.type === 'SpreadElement' ? argument.argument : argument
    return input.type === 'ThisExpression' || (input.type === 'Identifier' && own.has(input.name))
  }
  if (!result.arguments.every(isHandedOn)) return null
  const passed = result.arguments.map((argument) => (argument.argument ?? argument).name)
  return { callee: result.callee, isVoid, isFitted: isVoid || passed.join() !== names.join() }
}

/** Why a function that only calls another is there, as its form shows; `null` when it does not. */
function reasonOf({ name, node, callee, isVoid, isFitted, names, isPort, isMember, isGetter, isVariable }) {
  if (node.returnType?.typeAnnotation.type === 'TSTypePredicate') return 'guard'
  if (isPort) return 'port'
  if (isGetter) return 'live'
  if (isVoid || (isMember && isFitted)) return 'fitted'
  if (callee.type !== 'MemberExpression') return null
  const [base, ...steps] = pathOf(callee)
  // Whoever gets a function gets no object with it.
  if (isMember || (isVariable && names.values.has(name))) return 'bound'
  if (base === 'this' && steps.length > 1 && steps[0].startsWith('#')) return 'private'
  return /^[A-Z][A-Z0-9_]*$/.test(base) ? 'question' : null
}

/** `a.b.c` as its names; `this` is one, private ones begin with `#`. */
function pathOf(node) {
  if (node.type !== 'MemberExpression') return [node.type === 'ThisExpression' ? 'this' : (node.name ?? '')]
  const { type, name, value } = node.property
  return [...pathOf(node.object), type === 'PrivateIdentifier' ? `#${name}` : String(name ?? value)]
}

/** The names of a module that stand for a value somewhere, not only before a call's parenthesis. */
function namesIn(program) {
  const called = new Set()
  const values = new Set()
  const declared = new Set()
  new Visitor({
    CallExpression({ callee }) {
      called.add(callee)
    },
    VariableDeclarator({ id }) {
      declared.add(id)
    },
    MemberExpression({ property, computed }) {
      if (!computed) declared.add(property)
    },
    Property({ key, shorthand }) {
      if (!shorthand) declared.add(key)
    },
    Identifier(node) {
      if (!called.has(node) && !declared.has(node)) values.add(node.name)
    },
  }).visit(program)
  return { values }
}
