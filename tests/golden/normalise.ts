// What may differ between two runs of one session, and what stands for it in a golden file. Everything else is compared to the byte:
// words, numbers, order, punctuation.
import { userInfo } from 'node:os'

/** One row of the table: what varies, and the word in its place. A rule names as little as it can: numbers that mean something stay. */
interface Rule {
  /** What it is, for readers of this table. */
  readonly what: string
  readonly pattern: RegExp
  /** `#` becomes a number of its own for each value, in the order of appearance, so that two values stay two. */
  readonly becomes: string
}

/** Applied from top to bottom. */
const RULES: readonly Rule[] = [
  {
    what: 'the machine in the system text',
    pattern: /System: Linux [^\n\\]*?\(.*?\)\)(?=\\n|\n|$)/gm,
    becomes: 'System: <system>',
  },
  {
    what: 'the person in the system text',
    pattern: new RegExp(`User: ${userInfo().username}, home`, 'g'),
    becomes: 'User: <user>, home',
  },
  {
    what: 'the person in fields',
    pattern: new RegExp(`(?<="user":")${userInfo().username}(?=")`, 'g'),
    becomes: '<user>',
  },
  { what: 'the person in rules', pattern: new RegExp(`(?<=" for )${userInfo().username}\\b`, 'g'), becomes: '<user>' },
  {
    what: 'the person in the audit trail',
    pattern: new RegExp(`(?<=; )${userInfo().username}(?= on )`, 'g'),
    becomes: '<user>',
  },
  { what: 'the version', pattern: /(?<="title":"Hermes","version":")[^"]+/g, becomes: '<version>' },
  { what: 'the shell in the system text', pattern: /Shell: \/[\w/.-]+/g, becomes: 'Shell: <shell>' },
  { what: 'ports', pattern: /127\.0\.0\.1:\d{4,5}/g, becomes: '127.0.0.1:<port>' },
  { what: 'ids of sessions', pattern: /\b\d{8}_\d{6}_[0-9a-f]{6}\b/g, becomes: '<session #>' },
  {
    what: 'ids of runs and questions',
    pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    becomes: '<id #>',
  },
  { what: 'ids of answers of the gateway', pattern: /\bchatcmpl-[0-9a-f]{32}\b/g, becomes: '<answer #>' },
  { what: 'names of files with long output', pattern: /\boutput-[\w-]+\.txt/g, becomes: '<output #>' },
  { what: 'times in milliseconds', pattern: /\b1[789]\d{11}\b/g, becomes: '<time>' },
  { what: 'times in seconds', pattern: /(?<="created":)1[789]\d{8}\b/g, becomes: '<time>' },
  { what: 'folders of programs', pattern: /\/tmp\/hermes-code-\d+-\w{6}/g, becomes: '<program #>' },
  { what: 'times as text', pattern: /\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, becomes: '<time>' },
  { what: 'days', pattern: /\b20\d\d-\d\d-\d\d\b/g, becomes: '<day>' },
  { what: 'ids of commands in the background', pattern: /\bproc_[0-9a-f]{8}\b/g, becomes: '<process #>' },
  { what: 'numbers of processes', pattern: /(?<=\bpid |"pid":)\d+/g, becomes: '<pid>' },
  { what: 'who has a session open', pattern: /(?<=\(process )\d+@[^)]+(?=\))/g, becomes: '<process>' },
  { what: 'how long a command runs', pattern: /running for \d+ s/g, becomes: 'running for <duration>' },
  {
    what: 'how long the wait for a model is',
    pattern: /in \d+(?:\.\d+)? s \(attempt/g,
    becomes: 'in <duration> (attempt',
  },
  { what: 'ids of tasks in the background', pattern: /\btask-[0-9a-f]{6}\b/g, becomes: '<task #>' },
  {
    what: 'how long a command or a program ran',
    pattern: /(?<=\[[^\]]* · )\d+(?:\.\d+)? s(?=\])/g,
    becomes: '<duration>',
  },
  {
    // A call that took no time says none.
    what: 'how long a call took, on a screen',
    pattern: /(?<=^[✓✗] .*) · \d+(?:\.\d+)? m?s$/g,
    becomes: '',
  },
  {
    what: 'an estimate that counts the machine in the system text',
    pattern: /(?<=about )\d{4,5}(?=\.)/g,
    becomes: '<tokens>',
  },
  { what: 'how long a child ran', pattern: /(?<=\()\d+(?:\.\d+)? s(?=, \d+ tool calls)/g, becomes: '<duration>' },
  { what: 'hashes of the audit trail', pattern: /\b[0-9a-f]{64}\b/g, becomes: '<hash>' },
  {
    what: 'durations in fields',
    pattern: /(?<="(?:durationMs|duration_ms|duration_seconds|delayMs)":)[\d.]+/g,
    becomes: '<duration>',
  },
]

/** Makes what varies the same for one session; `literals` are texts of this run, such as its folder, and what stands for them. */
export function createNormaliser(literals: Readonly<Record<string, string>>): (text: string) => string {
  const seen = new Map<string, string>()
  const counts = new Map<string, number>()
  const numbered = (value: string, becomes: string) => {
    const known = seen.get(value)
    if (known !== undefined) return known
    const count = (counts.get(becomes) ?? 0) + 1
    counts.set(becomes, count)
    const name = becomes.replace('#', String(count))
    seen.set(value, name)
    return name
  }
  return (text) => {
    let result = text
    for (const [literal, word] of Object.entries(literals)) result = result.replaceAll(literal, word)
    for (const { pattern, becomes } of RULES)
      result = becomes.includes('#')
        ? result.replace(pattern, (value) => numbered(value, becomes))
        : result.replace(pattern, becomes)
    return result
  }
}
