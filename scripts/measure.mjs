// node scripts/measure.mjs [--root DIR] [--no-hops]: counts what the house is made of, prints a table and writes bench/results/measure-DATE.json of
// this clone. --root measures another clone, whose dependencies must be installed for the hops.
//
// lines       of packages/*/src and apps/*/src without blank lines and comments; tests and __fixtures__ apart. Generated files count.
// exports     declarations with `export` in those sources; what a file only hands on does not count again.
// options     own members of each exported interface or object type whose name ends in Options.
// short       files of fewer than 16 lines, blank lines and comments included.
// forwarding  named functions and methods whose body is one call that passes on nothing but their own parameters or `this`.
// hops        functions of the workspace between the entry of the program and its first request in `hermes chat -q`.
// Exit codes: 0 measured; 1 nothing was read, or the hops could not be counted; 2 wrong option.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { countHops } from './measure/count-hops.mjs'
import { readOptions } from './options.mjs'

const { values } = readOptions(import.meta.filename, { root: { type: 'string' }, 'no-hops': { type: 'boolean' } })
const here = resolve(import.meta.dirname, '..')
const root = resolve(values.root ?? here)
const SHORT = 16

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

const rows = [
  ['source lines', figures.sourceLines],
  ['test lines', figures.testLines],
  ...Object.entries(figures.appLines).map(([app, lines]) => [`lines of ${app}`, lines]),
  ['lines of the apps together', sum(apps, ({ lines }) => lines)],
  ['source files', figures.sourceFiles],
  [`files of fewer than ${SHORT} lines`, figures.shortFiles.length],
  ['exports', figures.exports],
  ['functions that only call another', figures.forwarding.length],
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
  const addForwarding = (name, node) => {
    if (onlyCalls(node)) forwarding.push(`${path}:${lineAt(node.start)} ${name}`)
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
    MethodDefinition(node) {
      if (node.kind === 'method') addForwarding(node.key.name ?? 'method', node.value)
    },
    VariableDeclarator({ id, init }) {
      if (init?.type === 'ArrowFunctionExpression') addForwarding(id.name, init)
    },
    Property({ key, value }) {
      if (value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression')
        addForwarding(key.name ?? 'property', value)
    },
  }).visit(program)
  return { exports, options, forwarding }
}

/** Whether all a function does is to call another with its own parameters. */
function onlyCalls({ params, body }) {
  if (!body) return false
  let result = body
  if (body.type === 'BlockStatement') {
    if (body.body.length !== 1) return false
    result = body.body[0].argument ?? body.body[0].expression
  }
  while (
    result &&
    /^(AwaitExpression|ChainExpression|TSNonNullExpression|TSAsExpression|UnaryExpression)$/.test(result.type)
  ) {
    if (result.type === 'UnaryExpression' && result.operator !== 'void') return false
    result = result.argument ?? result.expression
  }
  if (result?.type !== 'CallExpression') return false
  // A call of what a call gave is more than handing on.
  for (
    let callee = result.callee;
    callee.type !== 'Identifier' && callee.type !== 'ThisExpression';
    callee = callee.object
  ) {
    if (callee.type !== 'MemberExpression' || (callee.computed && callee.property.type !== 'Literal')) return false
  }
  const own = new Set(params.map((param) => (param.parameter ?? param.argument ?? param.left ?? param).name))
  return result.arguments.every((argument) => {
    const input = argument.type === 'SpreadElement' ? argument.argument : argument
    return input.type === 'ThisExpression' || (input.type === 'Identifier' && own.has(input.name))
  })
}
