import { hash } from 'node:crypto'

/** Why something is named in a snapshot and its bytes are not kept. */
export type SkipReason = 'excluded' | 'too-large' | 'special' | 'unreadable'

/** What a snapshot knows of one name in a folder. `hash` names an object of the store. */
export type TreeEntry =
  | { readonly type: 'file'; readonly mode: number; readonly hash: string; readonly size: number }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'folder'; readonly mode: number; readonly hash: string }
  /** Left alone by every restore. */
  | { readonly type: 'skipped'; readonly reason: SkipReason; readonly size: number }

/** A folder: names and what they are. */
export type Tree = ReadonlyMap<string, TreeEntry>

/** Length of a hash as text. */
export const HASH_CHARS = 40

/** The name of an object: what its bytes hash to. */
export function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, HASH_CHARS)
}

type Row =
  | readonly [name: string, type: 'f', mode: number, hash: string, size: number]
  | readonly [name: string, type: 'l', target: string]
  | readonly [name: string, type: 'd', mode: number, hash: string]
  | readonly [name: string, type: 's', reason: SkipReason, size: number]

/** The bytes of a folder; the same for the same contents, whatever the order. */
export function encodeTree(tree: Tree): Buffer {
  const names = [...tree.keys()].sort()
  return Buffer.from(JSON.stringify(names.map((name) => toRow(name, tree.get(name)!))))
}

export function decodeTree(bytes: Uint8Array): Tree {
  const rows = JSON.parse(Buffer.from(bytes).toString()) as readonly Row[]
  return new Map(rows.map((row) => [row[0], fromRow(row)]))
}

function toRow(name: string, entry: TreeEntry): Row {
  switch (entry.type) {
    case 'file':
      return [name, 'f', entry.mode, entry.hash, entry.size]
    case 'link':
      return [name, 'l', entry.target]
    case 'folder':
      return [name, 'd', entry.mode, entry.hash]
    case 'skipped':
      return [name, 's', entry.reason, entry.size]
    default:
      return entry satisfies never
  }
}

function fromRow(row: Row): TreeEntry {
  switch (row[1]) {
    case 'f':
      return { type: 'file', mode: row[2], hash: row[3], size: row[4] }
    case 'l':
      return { type: 'link', target: row[2] }
    case 'd':
      return { type: 'folder', mode: row[2], hash: row[3] }
    case 's':
      return { type: 'skipped', reason: row[2], size: row[3] }
    default:
      return row satisfies never
  }
}
