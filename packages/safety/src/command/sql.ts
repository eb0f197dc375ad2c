import { type Invocation, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

/** Whether SQL in the arguments or on standard input drops, truncates, or deletes without a condition. */
export function destroysData({ args, input }: Invocation): boolean {
  // As the value of an option, too: --command=…, -c….
  const values = texts(args).map((word) => word.replace(/^(?:--[\w-]+=|-[a-zA-Z](?=[a-zA-Z]+\s))/, ''))
  return [...values.filter((word) => /\s/.test(word)), input.text ?? ''].some(isDestructiveSql)
}

/** Whether any statement of `text` drops, truncates, or deletes every row. */
function isDestructiveSql(text: string): boolean {
  const bare = text
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/--[^\n]*/g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''")
  return bare.split(';').some((statement) => {
    if (/\bdrop\s+(?:table|database|schema|view|index|user|role|column|function|materialized)\b/i.test(statement))
      return true
    if (/\btruncate\s+(?:table\s+)?\S/i.test(statement)) return true
    return /\bdelete\s+from\s+\S/i.test(statement) && !/\bwhere\b(?!\s+(?:1\s*=\s*1|true)\s*$)/i.test(statement)
  })
}

/** Functions and statements by which a database writes a file of this machine, with the path. */
const WRITES_FILE: readonly RegExp[] = Object.freeze([
  /\b(?:writefile|lo_export|pg_file_write|pg_file_rename)\s*\([^')]{0,200}'([^']{1,400})'/gi,
  /\binto\s+(?:outfile|dumpfile)\s+'([^']+)'/gi,
  /\b(?:copy|unload)\b[^;]{0,500}?\bto\s+'([^']{1,400})'/gi,
  /\b(?:vacuum\s+into|attach(?:\s+database)?|export\s+database|backup\s+to)\s+'([^']+)'/gi,
  /^\s*\\(?:o|out|g|w|copy\b.{0,500}?\bto)\s+'?([^\s'|]+)/gim,
  /^\s*\.(?:output|once|backup|save|log|trace|excel|archive)\s+'?([^\s']+)/gim,
  /\bconfig\s+set\s+dir\s+'?([^\s']+)/gi,
])
/** The same for a file that is read. */
const READS_FILE: readonly RegExp[] = Object.freeze([
  /\b(?:readfile|lo_import|load_file|pg_read(?:_binary)?_file|read_(?:text|blob|csv(?:_auto)?|json|parquet))\s*\([^')]{0,200}'([^']{1,400})'/gi,
  /\binfile\s+'([^']{1,400})'/gi,
  /\bcopy\b[^;]{0,500}?\bfrom\s+'([^']{1,400})'/gi,
  /^\s*\\(?:i|ir|include|copy\b.{0,500}?\bfrom)\s+'?([^\s'|]+)/gim,
  /^\s*\.(?:import|read|open)\s+(?:--\w+\s+)*'?([^\s'|]+)/gim,
])
/** Lines by which a database program hands a command to a shell. */
const RUNS: readonly RegExp[] = Object.freeze([
  /^\s*\.(?:shell|system)\s+(.+)$/gim,
  /^\s*\\!\s*(.+)$/gim,
  /^\s*system\s+(.+)$/gim,
  /^\s*\\(?:o|out|g|w)\s*\|\s*(.+)$/gim,
  /\b(?:to|from)\s+program\s+'((?:[^']|''){1,2000})'/gi,
  /^\s*\.(?:output|once|import)\s+['"]?\|(.+?)['"]?(?:\s+\w+)?$/gim,
])

const texted = ({ args, input }: Invocation): readonly string[] => [
  ...texts(args).map((word) => word.replace(/^(?:--[\w-]+=|-[a-zA-Z](?=[\\a-zA-Z.]+\s))/, '')),
  input.text ?? '',
]

/** Files that SQL, or a command of its program, writes; none for programs that send no SQL. */
export function filesOfSql(invocation: Invocation): readonly string[] {
  if (!isSqlClient(invocation)) return []
  return texted(invocation).flatMap((text) => foundBy(WRITES_FILE, text))
}

/** The same for files that are read. */
export function filesReadBySql(invocation: Invocation): readonly string[] {
  if (!isSqlClient(invocation)) return []
  return texted(invocation).flatMap((text) => foundBy(READS_FILE, text))
}

/** Commands that SQL, or a command of its program, has a shell run. */
export function commandsOfSql(invocation: Invocation): readonly string[] {
  if (!isSqlClient(invocation)) return []
  return texted(invocation)
    .flatMap((text) => foundBy(RUNS, text))
    .map((text) => text.replaceAll("''", "'"))
}

const isSqlClient = ({ name }: Invocation): boolean => PROGRAMS.sqlClients.includes(name) || name === 'redis-cli'

function foundBy(patterns: readonly RegExp[], text: string): readonly string[] {
  const part = text.slice(0, MAX_CHARS)
  return patterns.flatMap((pattern) => [...part.matchAll(pattern)].map(([, found = '']) => found.trim()))
}

const MAX_CHARS = 20_000
