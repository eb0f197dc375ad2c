import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'

/** Who is at the other end of a connection of this machine. */
export type Peer = 'isolated' | 'gone' | 'other'

/** What was found out about a connection stays true for it. */
export type PeerOf = (socket: Pick<Socket, 'localPort' | 'remotePort'>) => Peer

/**
 * Tells connections of isolated commands from others: their processes live in a user namespace of their own. A process that is gone before
 * it can be looked at is `gone`. On Linux; elsewhere everybody is `other`.
 */
export function createPeerOf(proc = '/proc'): PeerOf {
  const known = new WeakMap<object, Peer>()
  return (socket) => {
    const peer = known.get(socket) ?? look(socket, proc)
    known.set(socket, peer)
    return peer
  }
}

function look({ localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>, proc: string): Peer {
  const own = linkOf(`${proc}/self/ns/user`)
  if (own === null || localPort === undefined || remotePort === undefined) return 'other'
  const inode = inodeOf(proc, remotePort, localPort)
  if (inode === null) return 'gone'
  const holder = holderOf(proc, `socket:[${inode}]`)
  if (holder !== null) return linkOf(`${proc}/${holder}/ns/user`) === own ? 'other' : 'isolated'
  // Isolated processes of this user can be looked into; who cannot be is somebody else, unless it left meanwhile.
  return inodeOf(proc, remotePort, localPort) === inode ? 'other' : 'gone'
}

/** The number of the client's socket; `null` once no process has it. @see proc_net_tcp of the kernel's documentation */
function inodeOf(proc: string, clientPort: number, serverPort: number): string | null {
  for (const table of ['tcp', 'tcp6']) {
    for (const line of textOf(`${proc}/self/net/${table}`).split('\n').slice(1)) {
      const [, local = '', remote = '', , , , , , , inode = '0'] = line.trim().split(/\s+/)
      if (portOf(local) === clientPort && portOf(remote) === serverPort) return inode === '0' ? null : inode
    }
  }
  return null
}

const portOf = (address: string): number => Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)

function holderOf(proc: string, socket: string): string | null {
  const pids = namesIn(proc).filter((name) => /^\d+$/.test(name))
  // The newest first: clients are seldom older than this server.
  for (const pid of pids.sort((a, b) => Number(b) - Number(a)))
    if (namesIn(`${proc}/${pid}/fd`).some((fd) => linkOf(`${proc}/${pid}/fd/${fd}`) === socket)) return pid
  return null
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
