/** Programs that read a shell script from an argument, a file or standard input. */
export const SHELLS: readonly string[] = Object.freeze([
  ...['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'tcsh', 'csh', 'rbash'],
])

/** Programs that run code in other languages, and the options that give it inline. */
export const INTERPRETERS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  python: ['-c'],
  node: ['-e', '--eval', '-p', '--print'],
  deno: ['eval'],
  bun: ['-e', '--eval'],
  ruby: ['-e'],
  perl: ['-e', '-E'],
  php: ['-r'],
  lua: ['-e'],
  luajit: ['-e'],
  tsx: ['-e', '--eval', '-p', '--print'],
  'ts-node': ['-e', '--eval', '-p', '--print'],
  elixir: ['-e', '--eval', '--rpc-eval'],
  erl: ['-eval'],
  julia: ['-e', '-E', '--eval', '--print'],
  R: ['-e'],
  Rscript: ['-e'],
  octave: ['--eval'],
  gnuplot: ['-e'],
  groovy: ['-e'],
  scala: ['-e'],
  clojure: ['-e', '--eval'],
  ghc: ['-e'],
  guile: ['-c'],
  sbcl: ['--eval'],
  tclsh: [],
  emacs: ['--eval', '-eval', '--execute'],
  swift: ['-e'],
  crystal: ['eval'],
  nim: ['--eval'],
  raku: ['-e'],
  osascript: ['-e'],
  pwsh: ['-c', '-Command'],
  powershell: ['-c', '-Command'],
})

/** `python3.12` is `python`. */
export function interpreterOf(name: string): string | null {
  const family = name.replace(/(?<![\d.])[\d.]+$/, '').replace(/^nodejs$/, 'node')
  return Object.hasOwn(INTERPRETERS, family) ? family : null
}

/** Programs that bring text from other machines. */
export const FETCHERS: readonly string[] = Object.freeze([
  ...[
    'curl',
    'wget',
    'aria2c',
    'http',
    'https',
    'xh',
    'fetch',
    'lynx',
    'nc',
    'ncat',
    'netcat',
    'socat',
    'ftp',
    'telnet',
  ],
])

/** Whether the program turns encoded text into plain text. */
export function isDecoder(name: string, args: readonly string[]): boolean {
  if (['base64', 'gbase64', 'base32', 'basenc'].includes(name)) {
    return args.some((arg) => /^-\w*[dD]/.test(arg) || /^--d/.test(arg))
  }
  if (name === 'xxd') return args.some((arg) => /^-\w*r/.test(arg))
  if (name === 'openssl') return args.some((arg) => arg === '-d' || arg === 'base64')
  return (
    ['uudecode', 'gunzip', 'zcat', 'rev'].includes(name) || (name === 'gzip' && args.some((arg) => /^-\w*d/.test(arg)))
  )
}
