// Code of a start whose modules are evaluated when they are used first, each as a whole.

export interface Statement {
  readonly type: string
  readonly start: number
  readonly end: number
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** A chunk as the bundler writes it: the modules in their order, each below a comment with its path. */
export interface Code {
  readonly text: string
  readonly body: readonly Statement[]
  readonly comments: readonly { readonly type: string; readonly value: string; readonly start: number }[]
  /** What is imported from other chunks, by the name it has here: how to get at it. */
  readonly imported: ReadonlyMap<string, string>
  /** Names that something is assigned to. */
  readonly changed: ReadonlySet<string>
  /** What else is changed in the text. */
  readonly edits: readonly Edit[]
  /** What other chunks take, and the names it has here. */
  readonly exports: readonly { readonly name: string; readonly local: string }[]
}

interface Unit {
  readonly path: string
  readonly statements: readonly Statement[]
  readonly names: ReadonlySet<string>
  /** What stands before it, because only this unit uses it. */
  readonly before: Unit[]
}

/**
 * The body of a function that gives back the exports. A bundle evaluates all of its modules in a row, and V8 makes something of each function in
 * them and keeps it: three of four are not called until the first request. Here a module of ours is a function of its own, which the first
 * use of a name from it calls; so V8 reads over all that is not used, and keeps a line of it. Modules of others are evaluated in their order.
 * The bundler gives no two names of a chunk the same letters, so a name is what it looks like.
 */
export function evaluateWhenUsed(code: Code): string {
  const { text, imported, changed, edits, exports } = code
  const units = unitsOf(code)
  const owner = new Map(units.flatMap((unit) => [...unit.names].map((name) => [name, unit] as const)))
  const references = units.map((unit) => unit.statements.flatMap((one) => referencesIn(one)))
  const users = new Map<Unit, Set<Unit>>()
  for (const [index, found] of references.entries())
    for (const { name } of found) {
      const unit = owner.get(name)
      if (unit && unit !== units[index]) users.set(unit, (users.get(unit) ?? new Set()).add(units[index]!))
    }
  const exported = new Set(exports.map(({ local }) => local))
  const late = new Set(units.filter((unit) => isOwn(unit.path) && unit.names.size > 0 && hasOnlyNames(unit)))
  // Each module of ours takes what it needs of Node by a module that no other uses.
  const hosts = new Map<Unit, Unit>()
  for (const unit of units) {
    const [user, ...others] = users.get(unit) ?? []
    const isTaken = unit.path.startsWith('builtin:') && user !== undefined && others.length === 0 && late.has(user)
    if (!isTaken || [...unit.names].some((name) => exported.has(name))) continue
    user.before.push(unit)
    hosts.set(unit, user)
  }
  const numbers = new Map([...late].map((unit, index) => [unit, index]))
  const wayTo = (name: string, from: Unit | null) => {
    const there = imported.get(name)
    if (there !== undefined) return there
    const unit = owner.get(name)
    const home = unit && (hosts.get(unit) ?? unit)
    if (!home || home === from || !late.has(home)) return undefined
    return `$u${numbers.get(home)}().${name}`
  }
  const taken = new Map<Unit, Set<string>>([...late].map((unit) => [unit, new Set<string>()]))
  const take = (name: string, from: Unit | null) => {
    const way = wayTo(name, from)
    if (way !== undefined) taken.get(owner.get(name)!)?.add(name)
    return way
  }
  const all = [...edits]
  for (const [index, found] of references.entries()) {
    const from = hosts.get(units[index]!) ?? units[index]!
    for (const { name, start, end, role } of found) {
      const way = take(name, from)
      if (way !== undefined) all.push({ start, end, by: written(name, way, role) })
    }
  }
  const results = exports.map(({ name, local }) => {
    const way = take(local, null)
    return way === undefined ? `${name}:${local}` : `get ${name}(){return ${way}}`
  })
  const stale = exports.find(({ local }) => changed.has(local) && !late.has(owner.get(local)!))
  if (stale) throw new Error(`A chunk exports ${stale.local}, which changes.`)
  all.sort(inOrder)
  const textOf = (unit: Unit): string =>
    [...unit.before.map(textOf), ...unit.statements.map((one) => changedText(text, one, all))].join('\n')
  const parts = units
    .filter((unit) => !hosts.has(unit))
    .map((unit) => {
      const number = numbers.get(unit)
      if (number === undefined) return textOf(unit)
      const names = [...taken.get(unit)!].map((name) => (changed.has(name) ? `get ${name}(){return ${name}}` : name))
      return `var $v${number};function $u${number}(){return $v${number}??=$w${number}()}function $w${number}(){${textOf(unit)}\nreturn{${names.join(',')}}}`
    })
  return `${parts.join('\n')}\nreturn{${results.join(',')}}`
}

const inOrder = (left: Edit, right: Edit) => left.start - right.start

/** A module that uses what it imports by other ways. */
export function withWays(
  text: string,
  body: readonly Statement[],
  ways: ReadonlyMap<string, string>,
  edits: readonly Edit[],
): string {
  const found = body.filter(({ type }) => type !== 'ImportDeclaration').flatMap((one) => referencesIn(one))
  const ours = found.flatMap(({ name, start, end, role }) => {
    const way = ways.get(name)
    return way === undefined ? [] : [{ start, end, by: written(name, way, role) }]
  })
  return changedText(text, { type: 'Program', start: 0, end: text.length }, [...edits, ...ours].sort(inOrder))
}

const PATH = /^ (?:\S+\.[cm]?[jt]sx?|\w+:.+)$/
const isOwn = (path: string) => /(?:^|\/packages\/(?:platforms\/)?[^/]+\/)src\/.*\.ts$/.test(path)

function unitsOf({ body, comments }: Code): readonly Unit[] {
  const heads = comments.filter(({ type, value }) => type === 'Line' && PATH.test(value))
  const units: { path: string; statements: Statement[] }[] = []
  let next = 0
  for (const statement of body) {
    const before = next
    while ((heads[next]?.start ?? Number.POSITIVE_INFINITY) < statement.start) next++
    if (/^(?:Import|Export)/.test(statement.type)) continue
    if (next > before || units.length === 0) units.push({ path: heads[next - 1]?.value.trim() ?? '', statements: [] })
    units.at(-1)!.statements.push(statement)
  }
  return units.map((unit) => ({ ...unit, names: new Set(unit.statements.flatMap(namesOf)), before: [] }))
}

/** A statement that does something else than to give names may have to be done in its turn. */
const hasOnlyNames = ({ statements }: Unit) => statements.every((one) => namesOf(one).length > 0 || isNamespace(one))

interface Node extends Statement {
  readonly [key: string]: unknown
}

/** `__export(all, { … })`, which gives a module as one object. */
function isNamespace(statement: Statement): boolean {
  const { expression } = statement as Node
  const { callee } = (expression ?? {}) as Node
  return (callee as Node | undefined)?.name === '__export'
}

function namesOf(statement: Statement): readonly string[] {
  const { type, id, declarations } = statement as Node
  if (type === 'FunctionDeclaration' || type === 'ClassDeclaration') return [String((id as Node).name)]
  if (type !== 'VariableDeclaration') return []
  return (declarations as readonly Node[]).flatMap(({ id: pattern }) => bound(pattern as Node))
}

function bound(pattern: Node | null): readonly string[] {
  if (pattern === null) return []
  const { type, name, elements, properties, left, argument, value } = pattern
  if (type === 'Identifier') return [String(name)]
  if (type === 'ArrayPattern') return (elements as (Node | null)[]).flatMap(bound)
  if (type === 'ObjectPattern') return (properties as Node[]).flatMap(bound)
  return bound((left ?? argument ?? value) as Node)
}

type Role = 'value' | 'callee' | 'constructor' | 'short'

interface Reference {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly role: Role
}

/** Every identifier that stands for a value: no key, no label. */
function referencesIn(node: unknown, role: Role = 'value', found: Reference[] = []): readonly Reference[] {
  if (typeof node !== 'object' || node === null) return found
  if (Array.isArray(node)) {
    for (const one of node) referencesIn(one, 'value', found)
    return found
  }
  const { type, start, end, name, computed, shorthand } = node as Node
  if (type === 'Identifier') found.push({ name: String(name), start, end, role })
  for (const [key, child] of Object.entries(node)) {
    if (key === 'label' || type === 'MetaProperty' || ((key === 'key' || key === 'property') && computed === false))
      continue
    const isShort = key === 'value' && shorthand === true
    const isCalled = (key === 'callee' && type === 'CallExpression') || key === 'tag'
    // `new a.B()` makes a B, whatever has to be called to get at `a`.
    const isMade = key === 'callee' ? type === 'NewExpression' : key === 'object' && role === 'constructor'
    referencesIn(child, isShort ? 'short' : isCalled ? 'callee' : isMade ? 'constructor' : 'value', found)
  }
  return found
}

function written(name: string, way: string, role: Role): string {
  if (role === 'short') return `${name}:${way}`
  // What is called is called as before: with nothing as `this`, and as itself, not what its way gives.
  if (role === 'callee') return `(0,${way})`
  return role === 'constructor' ? `(${way})` : way
}

/** Edits are in order. */
function changedText(text: string, { start, end }: Statement, edits: readonly Edit[]): string {
  let at = start
  let rest = ''
  for (const edit of edits.slice(firstFrom(edits, start))) {
    if (edit.start >= end) break
    rest += text.slice(at, edit.start) + edit.by
    at = edit.end
  }
  return rest + text.slice(at, end)
}

function firstFrom(edits: readonly Edit[], start: number): number {
  let [low, high] = [0, edits.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (edits[middle]!.start < start) low = middle + 1
    else high = middle
  }
  return low
}
