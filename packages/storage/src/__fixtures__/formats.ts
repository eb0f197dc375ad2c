import Database from 'better-sqlite3'

/** Versions of the reference format that {@link makeFormat} makes; 20 is made up, the others are as their version history says. */
export const FORMATS = [1, 4, 7, 9, 10, 11, 16, 20] as const

const SESSIONS = `CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
  system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, FOREIGN KEY (parent_session_id) REFERENCES sessions(id));`
const MESSAGES = `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
  token_count INTEGER);
  CREATE INDEX idx_messages_session ON messages(session_id, timestamp);`
const BILLING = `cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
  billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT,
  cost_source TEXT, pricing_version TEXT`

/** What each version added. */
const CHANGES: readonly (readonly [version: number, sql: string])[] = [
  [2, addColumns('messages', 'finish_reason TEXT')],
  [3, addColumns('sessions', 'title TEXT')],
  [4, 'CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;'],
  [5, addColumns('sessions', BILLING)],
  [6, addColumns('messages', 'reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT')],
  [7, addColumns('messages', 'reasoning_content TEXT')],
  [8, addColumns('sessions', 'api_call_count INTEGER DEFAULT 0')],
  [9, addColumns('messages', 'codex_message_items TEXT')],
  [16, addColumns('messages', 'active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0, platform_message_id TEXT')],
  [16, addColumns('sessions', 'cwd TEXT, archived INTEGER DEFAULT 0')],
  [16, 'CREATE TABLE gateway_routing (session_key TEXT PRIMARY KEY, session_id TEXT);'],
  [16, "INSERT INTO gateway_routing VALUES ('telegram:1', 's0');"],
  [20, addColumns('messages', "mood TEXT DEFAULT 'calm'")],
  [20, 'CREATE VIEW live_sessions AS SELECT * FROM sessions WHERE ended_at IS NULL;'],
]

function addColumns(table: string, columns: string): string {
  return columns.split(/,\s*/).map((column) => `ALTER TABLE ${table} ADD COLUMN ${column};`).join('\n')
}

/** Until version 10 indexes read the texts from `messages`; from 11 on they keep texts, names and calls of their own. */
function indexes(version: number): string {
  const inline = version >= 11
  const columns = inline
    ? "COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '')"
    : 'new.content'
  const make = (table: string, tokenize: string) => `
    CREATE VIRTUAL TABLE ${table} USING fts5(content${inline ? '' : ', content=messages, content_rowid=id'}${tokenize});
    CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN
      INSERT INTO ${table}(rowid, content) VALUES (new.id, ${columns});
    END;
    CREATE TRIGGER ${table}_delete AFTER DELETE ON messages BEGIN
      ${inline ? `DELETE FROM ${table} WHERE rowid = old.id;` : `INSERT INTO ${table}(${table}, rowid, content) VALUES ('delete', old.id, old.content);`}
    END;`
  return make('messages_fts', '') + (version >= 10 ? make('messages_fts_trigram', ", tokenize='trigram'") : '')
}

/** What a fixture holds: the same sessions in every version, as far as its columns go. */
interface FormatContents {
  readonly sessions?: number
  readonly messages?: number
}

/**
 * Makes a database of a version. Its sessions `s0`, `s1` … each descend from the one before; their messages go round: a user's, a call,
 * its result, an answer with reasoning, and one of a role of that program's own.
 */
export function makeFormat(path: string, version: number, { sessions = 3, messages = 15 }: FormatContents = {}): void {
  const database = new Database(path)
  database.exec(`CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES (${version});`)
  database.exec(SESSIONS + MESSAGES)
  for (const [since, sql] of CHANGES) if (since <= version) database.exec(sql)
  if (version >= 8) database.exec('CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);')
  if (version >= 8) database.exec("INSERT INTO state_meta VALUES ('theirs', 'kept');")
  database.exec(indexes(version))
  database.transaction(() => {
    for (let number = 0; number < sessions; number++) insert(database, 'sessions', sessionRow(version, number))
    for (let number = 0; number < messages; number++) insert(database, 'messages', messageRow(version, number, sessions))
  })()
  database.close()
}

type Row = Record<string, string | number | null>

function sessionRow(version: number, number: number): Row {
  return {
    id: `s${number}`,
    source: 'telegram',
    parent_session_id: number === 0 ? null : `s${number - 1}`,
    started_at: 1_700_000_000.25 + number,
    message_count: 5,
    output_tokens: 7,
    ...(version >= 3 ? { title: number === 0 ? 'Trip' : `Trip #${number + 1}` } : {}),
    ...(version >= 5 ? { estimated_cost_usd: 0.5, billing_provider: 'openrouter' } : {}),
  }
}

function messageRow(version: number, number: number, sessions: number): Row {
  const common = { session_id: `s${Math.floor(number / 5) % sessions}`, timestamp: 1_700_000_100 + number }
  const call = JSON.stringify([{ id: `c${number}`, type: 'function', function: { name: 'look', arguments: '{"at":"stove"}' } }])
  const kinds: readonly Row[] = [
    { role: 'user', content: `Find the kettle, number ${number}. 水壶在哪里` },
    { role: 'assistant', content: null, tool_calls: call },
    { role: 'tool', content: 'on the stove', tool_call_id: `c${number - 1}`, tool_name: 'look' },
    { role: 'assistant', content: 'It is on the stove.', ...(version >= 6 ? { reasoning: 'Stoves are warm.' } : {}) },
    { role: 'session_meta', content: '{}' },
  ]
  return { ...common, ...kinds[number % kinds.length] }
}

function insert(database: Database.Database, table: string, row: Row): void {
  const names = Object.keys(row)
  database
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
    .run(Object.values(row))
}
