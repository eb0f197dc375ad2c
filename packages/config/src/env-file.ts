// A name, then a text in single quotes (one line), in double quotes (any number of lines), or the rest of the line.
const ENTRY =
  /^([ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=)(?:[ \t]*'([^'\n]*)'|[ \t]*"((?:\\[\s\S]|[^"\\])*)"|([^\n]*))/gm

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

/**
 * Reads the text of a `.env` file: `NAME=value` lines, an optional `export`, single quotes (literal), double quotes (escapes, several
 * lines), `#` comments. The last of several equal names counts; lines that are none of this are skipped. Nothing is expanded.
 */
export function parseEnv(text: string): Record<string, string> {
  return Object.fromEntries([...entries(text)].map(({ name, value }) => [name, value]))
}

function* entries(text: string) {
  for (const match of text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .matchAll(ENTRY)) {
    const [whole, assignment, name, literal, escaped, bare] = match
    const value =
      literal ?? escaped?.replace(/\\([\s\S])/g, (pair, char: string) => ESCAPES[char] ?? pair) ?? bareValue(bare!)
    const comment = bare === undefined ? '' : (/[ \t]#.*$/.exec(bare)?.[0] ?? '')
    yield {
      name: name!,
      value,
      start: match.index + assignment!.length,
      end: match.index + whole.length - comment.length,
    }
  }
}

function bareValue(text: string): string {
  return text.replace(/[ \t]#.*$/, '').trim()
}

/** The text of a `.env` file with one value set; everything else, comments included, stays as it is. */
export function editEnv(text: string, name: string, value: string): string {
  const unix = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const found = [...entries(unix)].findLast((entry) => entry.name === name)
  if (found) return unix.slice(0, found.start) + quote(value) + unix.slice(found.end)
  return `${unix}${unix === '' || unix.endsWith('\n') ? '' : '\n'}${name}=${quote(value)}\n`
}

function quote(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]*$/.test(value)) return value
  if (!/['\\\r\n]/.test(value)) return `'${value}'`
  const escaped = value
    .replace(/["\\$]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
  return `"${escaped}"`
}
