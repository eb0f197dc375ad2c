import { readdir, readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'

/** Who is at the other end of a connection of this machine. */
export type Peer = 'isolated' | 'gone' | 'other'

/** What was found out about a connection stays true for it. Never rejects. */
export type PeerOf = (socket: Pick<Socket, 'localPort' | 'remotePort'>) => Promise<Peer>

/** Holders of earlier connections that are looked at first: most clients come back. */
const KNOWN_HOLDERS = 16
/** Processes whose files are looked at together. */
const AT_ONCE = 8
/** A holder that forks and ends while it is looked for is found the next time; one that does so for ever is turned away. */
const MAX_LOOKS = 3

/**
 * Tells connections of isolated commands from others: their processes live in a user namespace of their own. A process that is gone before
 * it can be looked at is `gone`. On Linux; elsewhere everybody is `other`. Connections are looked at one after the other, beside the work.
 */
export function createPeerOf(proc = '/proc'): PeerOf {
  const finder = new PeerFinder(proc)
  const known = new WeakMap<object, Promise<Peer>>()
  let last: Promise<unknown> = Promise.resolve()
  return (socket) => {
    const peer = known.get(socket) ?? last.then(() => finder.look(socket))
    known.set(socket, peer)
    last = peer
    return peer
  }
}

/** A client's socket as the kernel lists it. */
interface ListedSocket {
  readonly inode: string
  readonly uid: string
}

class PeerFinder {
  readonly #proc: string
  /** The one seen last comes last. */
  #holders: readonly string[] = []

  constructor(proc: string) {
    this.#proc = proc
  }

  async look({ localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>): Promise<Peer> {
    const own = await linkOf(`${this.#proc}/self/ns/user`)
    if (own === null || localPort === undefined || remotePort === undefined) return 'other'
    const seen = new Set<string>()
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const socket = await this.#listed(remotePort, localPort)
      if (socket === null) return 'gone'
      // Isolated commands run as this user.
      if (process.getuid !== undefined && socket.uid !== String(process.getuid())) return 'other'
      const fresh = (await this.#processes()).filter((pid) => !seen.has(pid))
      const holder = await this.#holderAmong(fresh, `socket:[${socket.inode}]`)
      if (holder !== null) {
        this.#holders = [...this.#holders.filter((pid) => pid !== holder), holder].slice(-KNOWN_HOLDERS)
        return (await linkOf(`${this.#proc}/${holder}/ns/user`)) === own ? 'other' : 'isolated'
      }
      // Isolated processes can be looked into; who cannot be is somebody else, unless it began or left meanwhile.
      if (looks > 0 && fresh.length === 0) return 'other'
      for (const pid of fresh) seen.add(pid)
    }
    return 'gone'
  }

  /** The client's socket; `null` once no process has it. @see proc_net_tcp of the kernel's documentation */
  async #listed(clientPort: number, serverPort: number): Promise<ListedSocket | null> {
    for (const table of ['tcp', 'tcp6']) {
      const text = await readFile(`${this.#proc}/self/net/${table}`, 'utf8').catch(() => '')
      for (const line of text.split('\n').slice(1)) {
        const [, local = '', remote = '', , , , , uid = '', , inode = '0'] = line.trim().split(/\s+/)
        if (portOf(local) === clientPort && portOf(remote) === serverPort) return inode === '0' ? null : { inode, uid }
      }
    }
    return null
  }

  /** Known holders first, then the newest: clients are seldom older than this server. */
  async #processes(): Promise<readonly string[]> {
    const pids = (await namesIn(this.#proc)).filter((name) => /^\d+$/.test(name))
    const rank = (pid: string) => this.#holders.indexOf(pid) * 1e9 + Number(pid)
    return pids.sort((a, b) => rank(b) - rank(a))
  }

  async #holderAmong(pids: readonly string[], socket: string): Promise<string | null> {
    for (let at = 0; at < pids.length; at += AT_ONCE) {
      const some = pids.slice(at, at + AT_ONCE)
      const pauses = await Promise.all(some.map((pid) => this.#pauses(pid, socket)))
      const found = some[pauses.indexOf(true)]
      if (found !== undefined) return found
    }
    return null
  }

  async #pauses(pid: string, socket: string): Promise<boolean> {
    const folder = `${this.#proc}/${pid}/fd`
    for (const fd of await namesIn(folder)) if ((await linkOf(`${folder}/${fd}`)) === socket) return true
    return false
  }
}

const portOf = (address: string): number => Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => [])

const linkOf = (path: string): Promise<string | null> => readlink(path).catch(() => null)
