// Which declaration each name of a file means, as numbers: equal before and after a rename that neither collides nor shadows.
import { parseSync } from 'oxc-parser'

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'TSEmptyBodyFunctionExpression',
  'TSDeclareFunction',
])
const BLOCKS = new Set([
  'BlockStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'SwitchStatement',
  'CatchClause',
  'StaticBlock',
])
const TYPES = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSFunctionType',
  'TSMethodSignature',
  'TSMappedType',
  'TSCallSignatureDeclaration',
  'TSConstructorType',
  'TSConditionalType',
])

/**
 * @typedef {{ name: string, start: number, end: number, role: 'binding' | 'property' | 'shorthand' | 'imported' }} Name
 * @returns {{ names: Name[], meant: (number | null)[], twins: string[], tags: { name: string, start: number, end: number }[] }} `meant` is, for each
 *   name that is no property, the place in `names` of its declaration; `twins` are keys that one object or type has twice; `tags` are
 *   strings that name a property (`Pick<A, 'b'>`, `A['b']`, `'b' in a`)
 */
export function readNames(file, text) {
  const { program, errors } = parseSync(file, text)
  const error = errors.find(({ severity }) => severity === 'Error')
  if (error) throw new Error(`${file}: ${error.message}`)
  const reader = new Reader()
  reader.visit(program, null, null)
  return reader.finish()
}

class Reader {
  #names = []
  #uses = []
  #twins = []
  #tags = []
  #scope = { parent: null, declared: new Map(), isFunction: true }

  finish() {
    const order = [...this.#names.keys()].sort((a, b) => this.#names[a].start - this.#names[b].start)
    const startsAt = new Map(order.map((from, to) => [this.#names[from].start, to]))
    const meant = new Map()
    for (const { index, name, scope } of this.#uses) {
      let at = scope
      while (at && !at.declared.has(name)) at = at.parent
      meant.set(index, at ? startsAt.get(at.declared.get(name)) : null)
    }
    return {
      names: order.map((index) => this.#names[index]),
      meant: order.map((index) => (meant.has(index) ? meant.get(index) : null)),
      twins: this.#twins,
      tags: this.#tags,
    }
  }

  visit(node, parent, key) {
    if (Array.isArray(node)) {
      for (const item of node) this.visit(item, parent, key)
      return
    }
    if (!node || typeof node.type !== 'string') return
    if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return this.#identifier(node, parent, key)
    if (node.type === 'Literal' && typeof node.value === 'string' && namesProperty(parent, key, this.#outer))
      this.#tags.push({ name: node.value, start: node.start + 1, end: node.end - 1 })
    const opens =
      FUNCTIONS.has(node.type) || BLOCKS.has(node.type) || TYPES.has(node.type) || node.type === 'ClassExpression'
    if (
      node.type === 'FunctionDeclaration' ||
      node.type === 'TSDeclareFunction' ||
      node.type === 'ClassDeclaration' ||
      node.type === 'TSInterfaceDeclaration' ||
      node.type === 'TSTypeAliasDeclaration'
    )
      if (node.id) this.#declare(node.id, this.#scope)
    if (opens) this.#scope = { parent: this.#scope, declared: new Map(), isFunction: FUNCTIONS.has(node.type) }
    if (node.id && (node.type === 'FunctionExpression' || node.type === 'ClassExpression'))
      this.#declare(node.id, this.#scope)
    if (node.params) for (const param of [node.params].flat()) this.#declarePattern(param, this.#scope)
    if (node.type === 'CatchClause') this.#declarePattern(node.param, this.#scope)
    if (node.type === 'TSTypeParameter') this.#declare(node.name, this.#scope)
    if (node.type === 'TSMappedType' && node.key) this.#declare(node.key, this.#scope)
    if (node.type === 'ImportDeclaration') for (const { local } of node.specifiers) this.#declare(local, this.#scope)
    if (node.type === 'VariableDeclaration')
      for (const { id } of node.declarations)
        this.#declarePattern(id, node.kind === 'var' ? this.#functionScope() : this.#scope)
    this.#findTwins(node)
    const outer = this.#outer
    this.#outer = { node, parent: outer }
    for (const name in node) if (name !== 'type' && typeof node[name] === 'object') this.visit(node[name], node, name)
    this.#outer = outer
    if (opens) this.#scope = this.#scope.parent
  }

  #outer = null

  #identifier(node, parent, key) {
    const role = roleOf(node, parent, key)
    if (role === 'skip') return
    const { start } = node
    const end = start + (node.type === 'PrivateIdentifier' ? 1 : 0) + node.name.length
    const shorthand = parent.type === 'Property' && parent.shorthand
    // A shorthand is one name in the text and two in the tree: its key, which is skipped, and its value.
    this.#names.push({ name: node.name, start, end, role: shorthand ? 'shorthand' : role })
    if (role === 'binding') this.#uses.push({ index: this.#names.length - 1, name: node.name, scope: this.#scope })
    if (node.typeAnnotation) this.visit(node.typeAnnotation, node, 'typeAnnotation')
  }

  /** A declaration is known by where it starts: its name may be read later. */
  #declare(id, scope) {
    if (id?.type === 'Identifier' && !scope.declared.has(id.name)) scope.declared.set(id.name, id.start)
  }

  #declarePattern(pattern, scope) {
    if (!pattern) return
    if (pattern.type === 'Identifier') this.#declare(pattern, scope)
    else if (pattern.type === 'AssignmentPattern') this.#declarePattern(pattern.left, scope)
    else if (pattern.type === 'RestElement') this.#declarePattern(pattern.argument, scope)
    else if (pattern.type === 'ArrayPattern') for (const item of pattern.elements) this.#declarePattern(item, scope)
    else if (pattern.type === 'ObjectPattern')
      for (const item of pattern.properties)
        this.#declarePattern(item.type === 'RestElement' ? item.argument : item.value, scope)
  }

  #functionScope() {
    let scope = this.#scope
    while (!scope.isFunction) scope = scope.parent
    return scope
  }

  #findTwins(node) {
    const members = {
      ObjectExpression: node.properties,
      ObjectPattern: node.properties,
      TSTypeLiteral: node.members,
      TSInterfaceBody: node.body,
      ClassBody: node.body,
    }[node.type]
    if (!members) return
    const seen = new Set()
    for (const member of members) {
      if (!member.key || member.computed || /Method|get|set/.test(`${member.type}${member.kind}`)) continue
      const key = member.key.name ?? member.key.value
      if (seen.has(key)) this.#twins.push(String(key))
      seen.add(key)
    }
  }
}

function roleOf(node, parent, key) {
  if (parent.type === 'Property' && parent.shorthand) return key === 'key' ? 'skip' : 'binding'
  if (node.type === 'PrivateIdentifier') return 'property'
  if (key === 'property' && parent.type === 'MemberExpression' && !parent.computed) return 'property'
  if (key === 'key' && !parent.computed && parent.type !== 'TSMappedType') return 'property'
  if (key === 'right' && parent.type === 'TSQualifiedName') return 'property'
  if (key === 'label') return 'property'
  if (parent.type === 'ImportSpecifier' || parent.type === 'ExportSpecifier') {
    const [here, there] = parent.type === 'ImportSpecifier' ? ['local', 'imported'] : ['local', 'exported']
    if (key === there && parent[here].start === node.start) return 'skip'
    return key === there ? 'property' : 'binding'
  }
  return 'binding'
}

function namesProperty(parent, key, outer) {
  if (parent.type === 'MemberExpression') return key === 'property'
  if (parent.type === 'BinaryExpression') return parent.operator === 'in' && key === 'left'
  if (parent.type !== 'TSLiteralType') return false
  let at = outer?.parent
  while (at?.node.type === 'TSUnionType') at = at.parent
  if (at?.node.type === 'TSIndexedAccessType') return true
  if (at?.node.type !== 'TSTypeParameterInstantiation') return false
  const { typeName, expression } = at.parent?.node ?? {}
  return ['Pick', 'Omit', 'Record'].includes((typeName ?? expression)?.name)
}
