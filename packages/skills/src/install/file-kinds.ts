// What a file is by its name and its first bytes, which count more: a name says what somebody wants it to be taken for.
import { extname } from 'node:path'

/** What a file is. `data`: bytes that are no text and nothing known. `disguised`: called a picture and none. */
type FileKind = 'archive' | 'program' | 'picture' | 'disguised' | 'data' | 'text'

const ARCHIVE_NAME = /\.(?:zip|tar|t?gz|tbz2?|bz2|txz|xz|zst|lz4|lz|7z|rar|cab|jar|whl|asar|deb|rpm|dmg|iso)$/i
const PROGRAM_NAME = /\.(?:exe|dll|so|dylib|node|wasm|class|pyc|bin|msi|com|scr)$/i
/** zip, gzip, 7z, xz, bzip2, zstd, lz4, rar, cab, xar, ar, lzip. */
const ARCHIVE =
  /^(?:504b0(?:304|506|708)|1f8b|377abcaf|fd377a58|425a68|28b52ffd|04224d18|526172211a|4d534346|78617221|213c617263683e|4c5a4950)/
/** ELF, Mach-O, Java, Windows, WebAssembly. */
const PROGRAM = /^(?:7f454c46|feedfac|cffaedfe|cefaedfe|cafebabe|4d5a|0061736d)/
/** How the files of a kind begin, in hexadecimal, by the end of their names. */
const PICTURES: Readonly<Record<string, RegExp>> = {
  '.png': /^89504e470d0a1a0a/,
  '.jpg': /^ffd8ff/,
  '.jpeg': /^ffd8ff/,
  '.gif': /^47494638/,
  '.webp': /^52494646.{8}57454250/,
  '.ico': /^00000100/,
  '.pdf': /^255044462d/,
  '.ttf': /^(?:00010000|74727565|4f54544f)/,
  '.woff': /^774f4646/,
  '.woff2': /^774f4632/,
}

/** What a file is. Pure. */
export function kindOf(path: string, content: Uint8Array): FileKind {
  const start = Buffer.from(content.subarray(0, 16)).toString('hex')
  if (ARCHIVE_NAME.test(path) || ARCHIVE.test(start) || isTar(content)) return 'archive'
  if (PROGRAM_NAME.test(path) || PROGRAM.test(start)) return 'program'
  // Without a zero byte it can be loaded as text, whatever it is called.
  if (!content.includes(0)) return 'text'
  const picture = PICTURES[extname(path).toLowerCase()]
  return picture === undefined ? 'data' : picture.test(start) ? 'picture' : 'disguised'
}

const isTar = (content: Uint8Array) => Buffer.from(content.subarray(257, 262)).toString('latin1') === 'ustar'
