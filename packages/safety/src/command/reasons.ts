import type { Finding } from './rule.js'

/** Reasons that are about the line as a whole. */
export const FORK_BOMB: Finding = Object.freeze({ rule: 'fork-bomb', reason: 'starts processes without end' })
export const TOO_LONG: Finding = Object.freeze({
  rule: 'too-long',
  reason: 'has more words or commands than can be judged; write them into a file and run that',
})
export const UNPARSABLE: Finding = Object.freeze({
  rule: 'unparsable',
  reason: 'has quoting or nesting that cannot be followed',
})
