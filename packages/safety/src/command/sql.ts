import { type Invocation, texts } from './invocation.js'

/** Programs that send SQL to a database. */
export const SQL_CLIENTS: readonly string[] = Object.freeze([
  ...['psql', 'mysql', 'mariadb', 'sqlite3', 'sqlcmd', 'duckdb', 'clickhouse-client', 'cockroach', 'pgcli', 'mycli'],
])

/** Whether SQL in the arguments or on standard input drops, truncates, or deletes without a condition. */
export function destroysData({ args, input }: Invocation): boolean {
  // As the value of an option, too: --command=…, -c….
  const given = texts(args).map((word) => word.replace(/^(?:--[\w-]+=|-[a-zA-Z](?=[a-zA-Z]+\s))/, ''))
  return [...given.filter((word) => /\s/.test(word)), input.text ?? ''].some(isDestructiveSql)
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
