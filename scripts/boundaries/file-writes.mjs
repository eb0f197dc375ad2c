// Which uses of node:fs in one file may change the disk.

const ALWAYS = [
  ...['appendFile', 'chmod', 'chown', 'copyFile', 'cp', 'createWriteStream', 'fchmod', 'fchown', 'ftruncate', 'lchmod'],
  ...['lchown', 'link', 'lutimes', 'mkdir', 'mkdtemp', 'mkdtempDisposable', 'rename', 'rm', 'rmdir', 'symlink'],
  ...['truncate', 'unlink', 'utimes', 'writeFile'],
]
/** Their second argument says whether they write. */
const OPENING = ['open', 'openAsBlob']
const READING = /^(?:['"]rs?['"]|[\w.]*O_RDONLY(?:\s*\|\s*[\w.]*O_(?:NOFOLLOW|NONBLOCK|DIRECTORY|CLOEXEC))*)$/

/** Collects what a visitor sees, then says where the file may write. */
export class FileWrites {
  /** Local name to the name in node:fs. */
  #named = new Map()
  #namespaces = new Set()
  #calls = []
  #members = []
  #text

  constructor(text) {
    this.#text = text
  }

  import(node) {
    if (!/^(?:node:)?fs(?:\/promises)?$/.test(node.source.value) || node.importKind === 'type') return
    for (const specifier of node.specifiers) {
      if (specifier.importKind === 'type') continue
      const name = specifier.imported?.name
      // The namespace `promises` is one more of them.
      if (name === undefined || name === 'promises' || name === 'default') this.#namespaces.add(specifier.local.name)
      else this.#named.set(specifier.local.name, { name: name.replace(/Sync$/, ''), node: specifier })
    }
  }

  call(node) {
    this.#calls.push(node)
  }

  member(node, property) {
    this.#members.push({ node, property })
  }

  /** Nodes that may change the disk. */
  sites() {
    const named = [...this.#named].flatMap(([local, { name, node }]) => {
      if (ALWAYS.includes(name)) return [node]
      if (!OPENING.includes(name)) return []
      const calls = this.#calls.filter(({ callee }) => callee.type === 'Identifier' && callee.name === local)
      return calls.length === 0 ? [node] : calls.filter((call) => !this.#onlyReads(call))
    })
    const members = this.#members
      .filter(({ node }) => node.object.type === 'Identifier' && this.#namespaces.has(node.object.name))
      .filter(({ node, property }) => {
        const name = property?.replace(/Sync$/, '')
        if (name === undefined || name === 'promises') return true
        if (!OPENING.includes(name)) return ALWAYS.includes(name)
        const call = this.#calls.find(({ callee }) => callee === node)
        return !call || !this.#onlyReads(call)
      })
    return [...named, ...members.map(({ node }) => node)]
  }

  #onlyReads({ arguments: [, flags] }) {
    return !flags || READING.test(this.#text.slice(flags.start, flags.end).trim())
  }
}
