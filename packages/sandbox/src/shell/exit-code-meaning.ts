type Meanings = Readonly<Record<number, string>>

const GREP: Meanings = { 1: 'no lines matched; not an error', 2: 'the search itself failed' }
const DIFF: Meanings = { 1: 'the inputs differ; not an error', 2: 'the comparison itself failed' }
const LINT: Meanings = { 1: 'problems were found in the code' }
const TEST: Meanings = { 1: 'the condition is false; not an error', 2: 'the condition is not valid' }

const PROGRAMS: Readonly<Record<string, Meanings>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  rg: GREP,
  ag: GREP,
  ack: GREP,
  diff: DIFF,
  cmp: DIFF,
  colordiff: DIFF,
  test: TEST,
  '[': TEST,
  '[[': TEST,
  find: { 1: 'some paths could not be read; the results may be incomplete' },
  curl: {
    3: 'the URL is malformed',
    5: 'the proxy name could not be resolved',
    6: 'the host name could not be resolved',
    7: 'the connection was refused or failed',
    18: 'the transfer ended early',
    22: 'the server answered with an HTTP error status',
    23: 'the output could not be written',
    26: 'a local file could not be read',
    28: 'the request timed out',
    35: 'the TLS handshake failed',
    47: 'there were too many redirects',
    51: "the server's certificate does not match the host",
    52: 'the server sent nothing',
    56: 'receiving data failed',
    60: "the server's certificate is not trusted",
  },
  wget: {
    3: 'a file could not be read or written',
    4: 'the network failed',
    5: "the server's certificate could not be verified",
    6: 'authentication failed',
    8: 'the server answered with an error',
  },
  pgrep: { 1: 'no process matched; not an error' },
  pkill: { 1: 'no process matched; nothing was signalled' },
  pidof: { 1: 'no such program is running; not an error' },
  which: { 1: 'the program was not found' },
  command: { 1: 'the program was not found' },
  pytest: {
    1: 'some tests failed',
    2: 'the test run was interrupted',
    3: 'pytest itself failed',
    4: 'pytest was called wrongly',
    5: 'no tests were collected',
  },
  make: { 1: 'with -q: a target needs rebuilding; otherwise see the output', 2: 'a recipe failed' },
  timeout: { 124: 'the time limit given to timeout ran out' },
  eslint: { ...LINT, 2: 'eslint itself failed' },
  biome: LINT,
  ruff: { ...LINT, 2: 'ruff itself failed' },
  mypy: { ...LINT, 2: 'mypy itself failed' },
  shellcheck: LINT,
  tsc: { 1: 'type errors were found', 2: 'type errors were found' },
  ssh: { 255: 'the connection failed; any other code is that of the command over there' },
  rsync: { 23: 'some files were not transferred', 24: 'some files vanished before they were transferred' },
  tar: { 1: 'some files changed or differ', 2: 'the archive could not be read or written whole' },
  xargs: { 123: 'a command that xargs ran failed', 124: 'a command that xargs ran ended with 255' },
  ping: { 1: 'there was no answer', 2: 'the host could not be asked' },
  systemctl: { 3: 'the unit is not active; not an error of systemctl', 4: 'there is no such unit' },
  docker: { 125: 'docker itself failed', 126: 'the command in the container could not be run' },
  jq: { 1: 'with -e: the result is false or null', 4: 'with -e: there was no result', 5: 'the filter failed' },
}

const GIT: Readonly<Record<string, Meanings>> = {
  diff: { 1: 'there are differences; not an error' },
  'diff-index': { 1: 'there are differences; not an error' },
  'diff-files': { 1: 'there are differences; not an error' },
  grep: { 1: 'no lines matched; not an error' },
  'merge-base': { 1: 'with --is-ancestor: it is no ancestor; not an error' },
  'check-ignore': { 1: 'none of the paths is ignored; not an error' },
  'ls-remote': { 2: 'no matching refs were found' },
  'show-ref': { 1: 'no matching refs were found; not an error' },
  config: { 1: 'the key is not set, or is invalid' },
  merge: { 1: 'the merge stopped at conflicts' },
  rebase: { 1: 'the rebase stopped, probably at conflicts' },
}

const ANY: Meanings = {
  126: 'the command was found but could not be run: check its permissions and format',
  127: 'a command was not found: check the name and PATH',
  130: 'it was interrupted (SIGINT)',
  134: 'it aborted (SIGABRT)',
  137: 'it was killed (SIGKILL), perhaps for lack of memory',
  139: 'it crashed (segmentation fault)',
  141: 'its output was closed before it was done (SIGPIPE); usually harmless, as in `… | head`',
  143: 'it was ended (SIGTERM)',
}

/**
 * What a non-zero exit code means for the program whose code it is: the last one of a pipe or list. `null` when nothing useful is
 * known. A guess from the text of the command, for the model to read; nothing may depend on it.
 */
export function exitCodeMeaning(command: string, exitCode: number): string | null {
  if (exitCode === 0) return null
  const words = lastCommand(command)
  const program = words[0]?.replace(/^.*\//, '') ?? ''
  const table =
    program === 'git' ? gitMeanings(words.slice(1)) : Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  return table?.[exitCode] ?? ANY[exitCode] ?? null
}

function gitMeanings(words: readonly string[]): Meanings | undefined {
  let at = 0
  while (words[at]?.startsWith('-')) at += words[at] === '-C' || words[at] === '-c' ? 2 : 1
  const name = words[at] ?? ''
  return Object.hasOwn(GIT, name) ? GIT[name] : undefined
}

const PREFIX = /^(?:[A-Za-z_][A-Za-z0-9_]*=.*|sudo|env|time|nice|nohup|exec|!|\{|\()$/

/** The words of the command whose exit code counts, without assignments and the likes of `sudo`. */
function lastCommand(command: string): string[] {
  const lists: string[][] = [[]]
  // Quoted text and escaped characters never separate commands.
  const tokens = command.matchAll(/(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s;|&'"\\])+|\|\||&&|[;|&\n]/g)
  for (const [token] of tokens) {
    if (/^(?:\|\||&&|[;|&\n])$/.test(token)) lists.push([])
    else lists.at(-1)!.push(token)
  }
  const last = lists.findLast((list) => list.length > 0) ?? []
  const first = last.findIndex((word) => !PREFIX.test(word))
  return first === -1 ? [] : last.slice(first)
}
