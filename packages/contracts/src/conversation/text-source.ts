/** Where text came from that the person did not write in this session. */
export type TextSource =
  | {
      /**
       * A page; what other people wrote or the person handed over; a server of tools; a plugin; what a memory provider recalled; a session of
       * before; a file of keys that was read with a grant.
       */
      readonly type: 'web' | 'person' | 'server' | 'plugin' | 'recall' | 'session' | 'keys'
      /** For a person: `example.com`, `the MCP server x`. */
      readonly name: string
    }
  /** A file or folder of this machine; absolute. */
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'command'
      readonly command: string
      /** Absolute. */
      readonly cwd: string
      /** How far it could reach: only this machine, the network, or everything outside the isolation. */
      readonly reach: 'machine' | 'network' | 'outside'
    }
  /** A note that an earlier session left. `isMarked`: that one was tainted, and no person has confirmed the note since. */
  | { readonly type: 'note'; readonly name: string; readonly isMarked: boolean }
  /** What another session read that took part in this text: a parent, a child. */
  | { readonly type: 'inherited'; readonly names: readonly string[] }

/** Where text came from that is not the person's own, and whether it taints the conversation. */
export interface Provenance {
  /** Default: of a part from outside it is not known, and then it taints. */
  readonly sources?: readonly TextSource[]
  /** Set by the session's log where it trusted every source as the text came in. */
  readonly taints?: false
}

/** When text of a source taints a conversation. The one place that says so. */
const RULES = Object.freeze({
  web: 'always',
  person: 'always',
  server: 'always',
  plugin: 'always',
  recall: 'always',
  session: 'always',
  keys: 'always',
  inherited: 'always',
  file: 'folder',
  command: 'reach',
  note: 'mark',
} satisfies Record<TextSource['type'], 'always' | 'folder' | 'reach' | 'mark'>)

/** What belongs to the system of a machine and is written by its administrator alone. */
const SYSTEM = /^\/(?:usr|etc|bin|sbin|lib|lib32|lib64|nix\/store)(?:\/|$)/

/** Whether text of this source taints; `isTrusted` says whether the person trusts the project of a folder. Pure. */
function sourceTaints(source: TextSource, isTrusted: (folder: string) => boolean): boolean {
  const rule = RULES[source.type]
  switch (rule) {
    case 'always':
      return true
    case 'folder':
      return !isOwn((source as Source<'file'>).path, isTrusted)
    case 'reach': {
      const { reach, cwd } = source as Source<'command'>
      return reach !== 'machine' || !isTrusted(cwd)
    }
    case 'mark':
      return (source as Source<'note'>).isMarked
    default:
      return rule satisfies never
  }
}

const isOwn = (path: string, isTrusted: (folder: string) => boolean): boolean => SYSTEM.test(path) || isTrusted(path)

type Source<Type extends TextSource['type']> = Extract<TextSource, { readonly type: Type }>

/** The folders whose trust {@link sourceTaints} asks about. */
export function foldersOf(sources: readonly TextSource[]): readonly string[] {
  return sources.flatMap((source) =>
    source.type === 'file' ? [source.path] : source.type === 'command' ? [source.cwd] : [],
  )
}

const MAX_NAME_CHARS = 100
/** Control characters, and those that turn text round or are not seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
/** Nearly every name, without any of them; to look for those takes as long as a regular expression ever does. */
const ASCII = /^[ -~]*$/

/** What a person is told of a source, on one line; more than one for what was inherited. */
export function sourceNames(source: TextSource): readonly string[] {
  switch (source.type) {
    case 'file': {
      const at = source.path.lastIndexOf('/')
      return [plain(`${source.path.slice(at + 1)} of ${source.path.slice(0, at) || '/'}`)]
    }
    case 'command':
      return [plain(`the output of ${source.command}`)]
    case 'inherited':
      return source.names.map(plain)
    default:
      return [plain(source.name)]
  }
}

/** On one line, without what is not seen. */
export function plain(name: string): string {
  const seen = ASCII.test(name) ? name : name.replace(UNSEEN, ' ')
  const line = seen.replace(/ {2,}/g, ' ').trim()
  return line.length <= MAX_NAME_CHARS ? line : `${line.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…`
}

/** A part or layer as it goes into a log: whether it taints is settled anew by its sources, of which those that do are kept. */
export function settle<Of extends Provenance>(of: Of, isTrusted: (folder: string) => boolean): Of {
  const { taints: _, ...rest } = of
  if (of.sources === undefined) return rest as Of
  const tainting = of.sources.filter((source) => sourceTaints(source, isTrusted))
  return (tainting.length === 0 ? { ...rest, taints: false } : { ...rest, sources: tainting }) as Of
}
