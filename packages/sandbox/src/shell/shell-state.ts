/** What persists from one command to the next. */
export interface ShellState {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
// A fresh shell counts its own level; our variables leak out only under `set -a`.
const OWN = /^(SHLVL$|__hermes_)/

/**
 * Reads what the shell saved: directory, NUL, `export -p`, NUL, a dot. `null` when the shell ended before it was done.
 * `before` supplies what `export -p` cannot show: its own shell level, and names that are no shell identifiers.
 */
export function parseShellState(saved: Buffer, before: Readonly<Record<string, string>>): ShellState | null {
  // One byte per character, because the shell may escape the single bytes of a character.
  const parts = saved.toString('latin1').split('\0')
  const [cwd, exports, end] = parts
  if (cwd === undefined || exports === undefined || end !== '.') return null
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(before)) if (!NAME.test(name) || OWN.test(name)) env[name] = value
  for (const [name, value] of parseExports(exports)) if (!OWN.test(name)) env[name] = fromBytes(value)
  return { cwd: fromBytes(cwd.replace(/\n$/, '')), env }
}

/**
 * What persists after a command that saved `saved`: variables given for that command only are as they were `before`, and so is the
 * directory of one that ran elsewhere. Variables too long, and more than 2,000, are left out: no program could be started with them; `notice` is the line that says so.
 */
export function nextState(
  before: ShellState,
  saved: ShellState,
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
): { readonly state: ShellState; readonly notice: string } {
  const env: Record<string, string> = { ...saved.env }
  const passing = options.cwd === undefined ? [] : ['PWD', 'OLDPWD']
  for (const name of [...Object.keys(options.env ?? {}), ...passing]) {
    const value = before.env[name]
    if (value === undefined) delete env[name]
    else env[name] = value
  }
  const dropped = dropLongest(env)
  const surplus = dropSurplus(env, before.env)
  const notices = [
    ...(dropped.length === 0
      ? []
      : [`${dropped.join(', ')} is too long to be there for the next command; use a file.`]),
    ...(surplus === 0
      ? []
      : [`${surplus} variables of more than ${MAX_VARIABLES} are not there for the next command; use a file.`]),
  ]
  const notice = notices.map((line) => `[${line}]\n`).join('')
  return { state: { cwd: options.cwd === undefined ? saved.cwd : before.cwd, env }, notice }
}

/** No program can be started with more: Linux takes 128 KiB in one variable, macOS 1 MiB in all of them and the arguments. */
const [MAX_VARIABLE_BYTES, MAX_VARIABLES_BYTES] = [120_000, 600_000]

/** bubblewrap takes 9,000 arguments, three for each variable. */
const MAX_VARIABLES = 2_000

/** Takes away what is new of too many variables; how many. */
function dropSurplus(env: Record<string, string>, before: Readonly<Record<string, string>>): number {
  const names = Object.keys(env)
  if (names.length <= MAX_VARIABLES) return 0
  const surplus = [...names.filter((name) => name in before), ...names.filter((name) => !(name in before))].slice(
    MAX_VARIABLES,
  )
  for (const name of surplus) delete env[name]
  return surplus.length
}

/** Takes away what no program could be started with; the names. */
function dropLongest(env: Record<string, string>): readonly string[] {
  const sizes = Object.entries(env).map(([name, value]) => ({
    name,
    bytes: name.length + Buffer.byteLength(value) + 2,
  }))
  let all = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  // Nearly always everything fits.
  if (all <= MAX_VARIABLE_BYTES) return []
  const dropped: string[] = []
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) {
    if (bytes <= MAX_VARIABLE_BYTES && all <= MAX_VARIABLES_BYTES) break
    delete env[name]
    all -= bytes
    dropped.push(name)
  }
  return dropped
}

function fromBytes(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8')
}

/** Name and value of each exported variable; those without a value and arrays are left out. */
function parseExports(text: string): [name: string, value: string][] {
  const found: [string, string][] = []
  const declaration = /(?:declare -\S+|typeset -\S+|export) ([A-Za-z_][A-Za-z0-9_]*)(=?)/y
  let at = 0
  while (at < text.length) {
    declaration.lastIndex = at
    const match = declaration.exec(text)
    const start = match ? declaration.lastIndex : at
    const word = readWord(text, start)
    if (match?.[2] && text[start] !== '(') found.push([match[1]!, word.value])
    at = word.end + 1
  }
  return found
}

/** One line's worth of shell quoting: plain, `'…'`, `"…"` and `$'…'`, up to a newline outside quotes. */
function readWord(text: string, start: number): { readonly value: string; readonly end: number } {
  let value = ''
  let at = start
  while (at < text.length && text[at] !== '\n') {
    const piece = /\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[\s\S]/y
    piece.lastIndex = at
    const raw = piece.exec(text)![0]
    value += unquote(raw)
    at += raw.length
  }
  return { value, end: at }
}

function unquote(raw: string): string {
  if (raw.length === 1) return raw
  if (raw.startsWith("$'")) return raw.slice(2, -1).replace(ESCAPE, decodeEscape)
  if (raw.startsWith("'")) return raw.slice(1, -1)
  if (raw.startsWith('"'))
    return raw
      .slice(1, -1)
      .replace(/\\([\\"$`])/g, '$1')
      .replace(/\\\n/g, '')
  return raw.slice(1)
}

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c([\s\S])|([\s\S]))/g
const LETTERS: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
}

function decodeEscape(_all: string, ...groups: (string | undefined)[]): string {
  const [octal, hex, short, long, control, letter] = groups
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
  const point = short ?? long
  if (point !== undefined)
    return Buffer.from(String.fromCodePoint(Number.parseInt(point, 16)), 'utf8').toString('latin1')
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f)
  return LETTERS[letter!] ?? letter!
}
