// One TypeScript file as facts: what it imports, how, and which globals it touches.
import { parseSync, Visitor } from 'oxc-parser'
import { FileWrites } from './file-writes.mjs'

/** Globals that open connections by themselves. */
const CONNECTING = ['WebSocket', 'EventSource', 'XMLHttpRequest', 'WebTransport']

/**
 * @typedef {{ specifier: string, kind: 'value' | 'type' | 'dynamic', line: number }} Import
 * @typedef {{ name: string, line: number }} Use  `process.env`, `process.chdir`, `console`, or a sink: `fetch`, `fs write`, `eval` …
 */

/**
 * @param {string} file used for the dialect and in messages
 * @param {string} text
 * @returns {{ imports: Import[], uses: Use[], error?: string }}
 */
export function parseFile(file, text) {
  const { program, errors } = parseSync(file, text)
  const error = errors.find((item) => item.severity === 'Error')
  if (error) return { imports: [], uses: [], error: error.message }

  const lineOf = lineIndex(text)
  const imports = []
  const uses = []
  const writes = new FileWrites(text)
  const bound = new Set()
  const addImport = (kind, source, node) => {
    const specifier = literalText(source)
    if (specifier !== null) imports.push({ specifier, kind, line: lineOf(node.start) })
  }
  const addUse = (name, node) => uses.push({ name, line: lineOf(node.start) })
  const addBinding = (pattern) => {
    for (const name of patternNames(pattern)) bound.add(name)
  }

  new Visitor({
    ImportDeclaration(node) {
      writes.import(node)
      addImport(node.importKind === 'type' ? 'type' : 'value', node.source, node)
      for (const specifier of node.specifiers) {
        bound.add(specifier.local.name)
        const imported = specifier.imported?.name
        if (/^(node:)?process$/.test(node.source.value) && (imported === 'env' || imported === 'chdir'))
          addUse(`process.${imported}`, node)
        if (/^(node:)?(process|console)$/.test(node.source.value)) bound.delete(specifier.local.name)
        if (node.source.value === 'node:module' && imported === 'createRequire')
          addUse('globalThis.createRequire', node)
      }
    },
    ExportNamedDeclaration(node) {
      if (node.source) addImport(node.exportKind === 'type' ? 'type' : 'value', node.source, node)
    },
    ExportAllDeclaration(node) {
      addImport(node.exportKind === 'type' ? 'type' : 'value', node.source, node)
    },
    TSImportEqualsDeclaration(node) {
      if (node.moduleReference.type === 'TSExternalModuleReference')
        addImport('value', node.moduleReference.expression, node)
    },
    TSImportType(node) {
      addImport('type', node.source, node)
    },
    ImportExpression(node) {
      addImport('dynamic', node.source, node)
      if (literalText(node.source) === null) addUse('import(…)', node)
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && CONNECTING.includes(node.callee.name)) addUse(node.callee.name, node)
      if (node.callee.name === 'Function') addUse('eval', node)
      for (const argument of node.arguments) addBareFetch(argument)
    },
    CallExpression(node) {
      writes.call(node)
      if (node.callee.name === 'eval' || node.callee.name === 'Function') addUse('eval', node)
      if (node.callee.type === 'Identifier' && /^require/.test(node.callee.name) && node.arguments.length === 1)
        addImport('dynamic', node.arguments[0], node)
      if (node.callee.type === 'Identifier' && node.callee.name === 'fetch') addUse('fetch', node)
      for (const argument of node.arguments) addBareFetch(argument)
    },
    MemberExpression(node) {
      const owner = ownerName(node.object)
      const property = node.computed ? literalText(node.property) : node.property.name
      if (owner === 'process' && (property === 'env' || property === 'chdir')) addUse(`process.${property}`, node)
      if (owner === 'console') addUse('console', node)
      if (property === 'createAgent') addUse('agent factory', node)
      writes.member(node, property ?? undefined)
      addBareFetch(node.object)
      if (node.object.type !== 'Identifier' || !/^(?:globalThis|global)$/.test(node.object.name)) return
      if (property === 'fetch') addUse('globalThis.fetch', node)
      if (CONNECTING.includes(property) || property === 'eval') addUse(`globalThis.${property}`, node)
      if (property === null) addUse('globalThis[…]', node)
    },
    VariableDeclarator(node) {
      addBinding(node.id)
      if (!node.init) return
      if (ownerName(node.init) === 'process' && node.id.type === 'ObjectPattern')
        for (const property of node.id.properties)
          if (property.key?.name === 'env' || property.key?.name === 'chdir')
            addUse(`process.${property.key.name}`, node)
      if (node.init.type === 'Identifier' && /^(?:globalThis|global)$/.test(node.init.name)) {
        const names = node.id.type === 'ObjectPattern' ? node.id.properties.map(({ key }) => key?.name) : [undefined]
        for (const name of names) if (name === undefined || name === 'fetch') addUse('globalThis.fetch', node)
      }
      addBareFetch(node.init)
    },
    AssignmentExpression(node) {
      addBareFetch(node.right)
    },
    ReturnStatement(node) {
      addBareFetch(node.argument)
    },
    ConditionalExpression(node) {
      addBareFetch(node.consequent)
      addBareFetch(node.alternate)
    },
    ArrayExpression(node) {
      for (const element of node.elements) addBareFetch(element)
    },
    TSAsExpression(node) {
      addBareFetch(node.expression)
    },
    AssignmentPattern(node) {
      addBareFetch(node.right)
    },
    LogicalExpression(node) {
      addBareFetch(node.right)
    },
    Property(node) {
      // A shorthand `{ fetch }` in an object literal hands the global on; in a pattern it is a binding and lands in `bound`.
      addBareFetch(node.value)
    },
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression(node) {
      addFunction(node)
      addBareFetch(node.body)
    },
  }).visit(program)
  for (const node of writes.sites()) addUse('fs write', node)

  function addBareFetch(expression) {
    if (expression?.type === 'Identifier' && expression.name === 'fetch') addUse('fetch', expression)
  }
  function addFunction(node) {
    if (node.id) bound.add(node.id.name)
    for (const parameter of node.params) addBinding(parameter)
  }

  return {
    imports,
    uses: uses
      .filter(({ name }) => !bound.has(name.split('.')[0]))
      .map((use) => ({ ...use, name: use.name.replace(/^globalThis\./, '') })),
  }
}

/** `process` for both `process` and `globalThis.process`. */
function ownerName(node) {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression' && node.object.name === 'globalThis' && !node.computed) return node.property.name
  return null
}

function literalText(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked
  return null
}

function patternNames(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => patternNames(property.value ?? property.argument))
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => patternNames(element))
    case 'AssignmentPattern':
      return patternNames(pattern.left)
    case 'RestElement':
      return patternNames(pattern.argument)
    case 'TSParameterProperty':
      return patternNames(pattern.parameter)
    default:
      return []
  }
}

function lineIndex(text) {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle] <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
