const NPM_ERROR = /^npm (?:error|ERR!) /
/** Lines of npm that say nothing to a person. */
const NPM_NOISE = /^npm (?:error|ERR!) (?:code|errno|syscall|path|A complete log)\b/
const THROWN = /^(?:Uncaught )?\w*Error(?: \[\w+\])?: /
const NODE = /^Node\.js v\S+$/

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
  const thrown = lines.findLast((line) => THROWN.test(line))
  if (NODE.test(last) && thrown !== undefined) return `${thrown} (${last})`
  return last
}
