import type { Document, Node, YAMLMap } from 'yaml'

/** Changes to a YAML text that leave comments, order and the rest as they are. */
export interface YamlEdit {
  /** The value at a path, as plain data. */
  get(path: readonly string[]): unknown
  has(path: readonly string[]): boolean
  /** Sets a value; missing maps on the way are made. The caller sees to it that nothing but maps is on the way. */
  set(path: readonly string[], value: unknown): void
  /** Removes a key with the comments that belong to it; does nothing when it is not there. */
  remove(path: readonly string[]): void
  /** Makes a key of the outermost map the last one, with the comments that belong to it; does nothing when it is not there. */
  moveToEnd(key: string): void
}

/** The text after `change`. The text must be valid YAML holding a map or nothing. */
export async function editYaml(text: string, change: (edit: YamlEdit) => void): Promise<string> {
  const { default: yaml } = await import('yaml')
  const unix = text.replaceAll('\r\n', '\n')
  const doc: Document = yaml.parseDocument(unix, { merge: true, logLevel: 'error' })
  if (!yaml.isMap(doc.contents)) doc.contents = new yaml.YAMLMap() as Document['contents']
  const root = doc.contents as unknown as YAMLMap
  change({
    get: (path) => (root.getIn(path, true) as Node | undefined)?.toJS(doc),
    has: (path) => root.hasIn(path),
    set: (path, value) => setNode(yaml, doc, path, value),
    remove: (path) => {
      if (root.hasIn(path)) root.deleteIn(path)
    },
    moveToEnd: (key) => {
      const at = root.items.findIndex((pair) => yaml.isScalar(pair.key) && String(pair.key.value) === key)
      if (at >= 0) root.items.push(...root.items.splice(at, 1))
    },
  })
  const edited = doc.toString({ lineWidth: 0, flowCollectionPadding: false, ...layoutOf(unix) })
  return text.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited
}

function setNode(yaml: typeof import('yaml'), doc: Document, path: readonly string[], value: unknown): void {
  for (let length = 1; length < path.length; length++) {
    const parent = path.slice(0, length)
    if (!yaml.isCollection(doc.getIn(parent, true))) replaceNode(yaml, doc, parent, new yaml.YAMLMap())
  }
  const old = doc.getIn(path, true)
  if (yaml.isScalar(old) && (typeof value !== 'object' || value === null)) old.value = value
  else replaceNode(yaml, doc, path, doc.createNode(value))
}

/** Puts a node in place of another and carries over its comments, and the items of a list that stay. */
function replaceNode(yaml: typeof import('yaml'), doc: Document, path: readonly string[], node: Node): void {
  const old = doc.getIn(path, true) as Node | undefined
  if (old) {
    if (old.commentBefore) node.commentBefore = old.commentBefore
    if (old.comment) node.comment = old.comment
    if (old.spaceBefore) node.spaceBefore = true
  }
  if (yaml.isSeq<Node>(old) && yaml.isSeq<Node>(node)) {
    node.flow = old.flow ?? false
    const rest = [...old.items]
    node.items = node.items.map((item) => {
      const index = rest.findIndex((kept) => JSON.stringify(kept.toJS(doc)) === JSON.stringify(item.toJS(doc)))
      return index === -1 ? item : rest.splice(index, 1)[0]!
    })
  }
  doc.setIn(path, node)
}

function layoutOf(text: string): { readonly indent: number; readonly indentSeq: boolean } {
  const indent = /^[^\s#-][^\n]*:[ \t]*\n( {1,8})[^\s#-]/m.exec(text)?.[1]?.length ?? 2
  return { indent, indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text) }
}
