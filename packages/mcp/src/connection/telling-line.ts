const NPM_ERROR = /^npm (?:error|ERR!) /
/** Lines of npm that say nothing to a person. */
const NPM_NOISE = /^npm (?:error|ERR!) (?:code|errno|syscall|path|A complete log)\b/
/** Node puts brackets around an error without a stack. */
const THROWN = /^(?:(?:Uncaught )?\w*Error(?: \[\w+\])?|\[\w+): /
const NODE = /^Node\.js v\S+$/
/** What is told in the lines below, up to one that begins with the other bracket. */
const OPEN = /[[{]$/
const MAX_JOINED_LINES = 20
const MAX_JOINED_CHARS = 300

/**
 * The line of an error output that says why a program ended: not that npm kept a log somewhere, and not the version that Node ends every crash
 * with, which is told behind the error. The last line where none stands out; empty for an empty output.
 */
export function tellingLine(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const last = lines.at(-1) ?? ''
  const ofNpm = lines.find((line) => NPM_ERROR.test(line) && !NPM_NOISE.test(line))
  if (NPM_ERROR.test(last) && ofNpm !== undefined) return ofNpm
  const thrown = lines.findLastIndex((line) => THROWN.test(line))
  if (NODE.test(last) && thrown !== -1) return `${joined(lines.slice(thrown, -1))} (${last})`
  return last
}

/** The first of the lines, with those that belong to it where it ends in an open bracket. */
function joined(lines: readonly string[]): string {
  const [first = '', ...rest] = lines
  if (!OPEN.test(first)) return first
  let depth = 1
  const inside: string[] = []
  for (const line of rest.slice(0, MAX_JOINED_LINES)) {
    if (/^[\]}]/.test(line)) depth--
    if (OPEN.test(line)) depth++
    inside.push(line)
    if (depth <= 0) break
  }
  return [first, ...inside].join(' ').slice(0, MAX_JOINED_CHARS)
}
