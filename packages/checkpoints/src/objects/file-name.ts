// File names are bytes. A name that is not UTF-8 is held as text whose half surrogates U+DC80 to U+DCFF stand for its odd bytes, so
// that it can be a key, be kept in JSON, and be turned into the same bytes again.

const ESCAPE = 0xdc00
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The name that `bytes` stand for. */
export function decodeName(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    return [...bytes].map((byte) => String.fromCharCode(byte < 0x80 ? byte : ESCAPE + byte)).join('')
  }
}

/** The bytes of a name or path. */
export function encodeName(name: string): Buffer {
  if (name.isWellFormed()) return Buffer.from(name)
  return Buffer.concat(
    [...name].map((character) => {
      const code = character.charCodeAt(0)
      const isByte = character.length === 1 && code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff
      return isByte ? Buffer.of(code - ESCAPE) : Buffer.from(character)
    }),
  )
}

/** What `node:fs` takes for a path inside `root`; `''` is the root itself. */
export function fsPath(root: string, relative: string): string | Buffer {
  const path = relative === '' ? root : `${root}/${relative}`
  return relative.isWellFormed() ? path : encodeName(path)
}

/** The name below a folder. */
export function joinName(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** The folder a path is in; `''` for the root. */
export function parentName(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** For a person: control characters and odd bytes as escapes. */
export function printableName(name: string): string {
  return JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\')
}
