/** Version of the tables that other programs read too. */
export const SCHEMA_VERSION = 11

/** Version of the `hermes_*` tables, kept in `state_meta` under {@link OWN_VERSION_KEY}. */
export const OWN_VERSION = 1

/** Key of {@link OWN_VERSION}. */
export const OWN_VERSION_KEY = 'hermes_schema'

/** Key in `state_meta` of the newest message whose words are in the index. */
export const INDEXED_KEY = 'hermes_indexed'

/** The shared tables as version 11 has them. Columns only ever get added, and not by us. */
export const SHARED_TABLES = `
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  user_id TEXT,
  model TEXT,
  model_config TEXT,
  system_prompt TEXT,
  parent_session_id TEXT,
  started_at REAL NOT NULL,
  ended_at REAL,
  end_reason TEXT,
  message_count INTEGER DEFAULT 0,
  tool_call_count INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0,
  cache_read_tokens INTEGER DEFAULT 0,
  cache_write_tokens INTEGER DEFAULT 0,
  reasoning_tokens INTEGER DEFAULT 0,
  billing_provider TEXT,
  billing_base_url TEXT,
  billing_mode TEXT,
  estimated_cost_usd REAL,
  actual_cost_usd REAL,
  cost_status TEXT,
  cost_source TEXT,
  pricing_version TEXT,
  title TEXT,
  api_call_count INTEGER DEFAULT 0,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL,
  content TEXT,
  tool_call_id TEXT,
  tool_calls TEXT,
  tool_name TEXT,
  timestamp REAL NOT NULL,
  token_count INTEGER,
  finish_reason TEXT,
  reasoning TEXT,
  reasoning_content TEXT,
  reasoning_details TEXT,
  codex_reasoning_items TEXT,
  codex_message_items TEXT
);
`

/** Indexes of the shared tables; they need the columns, so they come after any are added. */
export const SHARED_INDEXES = `
CREATE INDEX IF NOT EXISTS idx_sessions_source ON sessions(source);
CREATE INDEX IF NOT EXISTS idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX IF NOT EXISTS idx_sessions_started ON sessions(started_at DESC);
CREATE UNIQUE INDEX IF NOT EXISTS idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, timestamp);
`

/**
 * The word index. It reads the texts from `messages`, so none is stored twice, and learns of new ones a little later: see `WordIndex`. Merging eight segments at a time instead of four
 * keeps appending quick and costs a search next to nothing.
 */
export const WORD_INDEX = `
CREATE VIRTUAL TABLE messages_fts USING fts5(
  content, tool_name, tool_calls, content=messages, content_rowid=id
);
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM messages_fts_docsize WHERE id = old.id) BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, content, tool_name, tool_calls)
  VALUES ('delete', old.id, old.content, old.tool_name, old.tool_calls);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE ON messages
WHEN EXISTS (SELECT 1 FROM messages_fts_docsize WHERE id = old.id) BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, content, tool_name, tool_calls)
  VALUES ('delete', old.id, old.content, old.tool_name, old.tool_calls);
  INSERT INTO messages_fts(rowid, content, tool_name, tool_calls)
  VALUES (new.id, new.content, new.tool_name, new.tool_calls);
END;
INSERT INTO messages_fts(messages_fts, rank) VALUES ('automerge', 8);
INSERT INTO messages_fts(messages_fts) VALUES ('rebuild');
INSERT OR REPLACE INTO state_meta (key, value) SELECT '${INDEXED_KEY}', coalesce(max(id), 0) FROM messages;
`

/** Takes away the word index of a version before 11, which knew message texts only. */
export const DROP_WORD_INDEX = `
DROP TRIGGER IF EXISTS messages_fts_insert;
DROP TRIGGER IF EXISTS messages_fts_delete;
DROP TRIGGER IF EXISTS messages_fts_update;
DROP TABLE IF EXISTS messages_fts;
`

/**
 * Our own tables. `hermes_entries` holds the entries that are no messages, and of messages what `messages` has no column for.
 * Lease tokens are never reused, hence AUTOINCREMENT. Sequence numbers come from the counter of `messages`, which therefore
 * must exist before the first message does.
 */
export const OWN_TABLES = `
CREATE TABLE IF NOT EXISTS hermes_sessions (
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  cwd TEXT,
  last_active_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hermes_entries (
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
);
CREATE TABLE IF NOT EXISTS hermes_leases (
  token INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL UNIQUE REFERENCES sessions(id) ON DELETE CASCADE,
  owner TEXT NOT NULL,
  process TEXT NOT NULL,
  ttl_ms INTEGER NOT NULL,
  renewed_ms INTEGER NOT NULL
);
INSERT INTO sqlite_sequence(name, seq)
  SELECT 'messages', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'messages');
`
