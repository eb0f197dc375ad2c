/** Version of the tables that other programs read too. */
export const SCHEMA_VERSION = 11

/** Version of the word index and the `hermes_*` tables, kept in `state_meta` under {@link OWN_VERSION_KEY}. */
export const OWN_VERSION = 2

/** Key of {@link OWN_VERSION}. */
export const OWN_VERSION_KEY = 'hermes_schema'

/** Key in `state_meta` of the newest message whose words are in the index. */
export const INDEXED_KEY = 'hermes_indexed'

/** Key in `state_meta` of the newest message that was there before the index was; those up to it are taken in newest first. */
export const BACKLOG_KEY = 'hermes_backlog'

/** Ids of this many messages share a row of `hermes_blocks`. */
export const BLOCK_IDS = 1_024

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
 * The word index. It keeps no text, only where words are; `WordIndex` gives it what `toIndexText` makes of a message, a moment
 * after the append. Three letters of a prefix are looked up, longer ones gathered. `WordIndex` also merges its segments, in small steps;
 * eight at a time instead of four keeps appending quick and costs a search next to nothing.
 */
export const WORD_INDEX = `
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='', contentless_delete=1, prefix='3');
INSERT INTO messages_fts(messages_fts, rank) VALUES ('automerge', 0);
INSERT INTO messages_fts(messages_fts, rank) VALUES ('usermerge', 8);
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
  DELETE FROM messages_fts WHERE rowid = old.id;
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN
  INSERT OR IGNORE INTO hermes_reindex (id) VALUES (new.id);
END;
INSERT OR REPLACE INTO state_meta (key, value) SELECT '${INDEXED_KEY}', coalesce(max(id), 0) FROM messages;
INSERT OR REPLACE INTO state_meta (key, value) SELECT '${BACKLOG_KEY}', coalesce(max(id), 0) FROM messages;
`

/**
 * Our own tables. `hermes_entries` holds the entries that are no messages, and of messages what `messages` has no column for.
 * `hermes_sessions` has a row for every session, also one that another program makes. `hermes_blocks` tells of which time the
 * indexed messages of a range of ids are, `hermes_reindex` which messages changed after they were indexed.
 * Lease tokens are never reused, hence AUTOINCREMENT. Sequence numbers come from the counter of `messages`, which therefore
 * must exist before the first message does.
 */
export const OWN_TABLES = `
CREATE TABLE IF NOT EXISTS hermes_sessions (
  session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
  cwd TEXT,
  last_active_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hermes_sessions_active ON hermes_sessions(last_active_ms);
CREATE TRIGGER IF NOT EXISTS hermes_sessions_insert AFTER INSERT ON sessions BEGIN
  INSERT OR IGNORE INTO hermes_sessions (session_id, last_active_ms) VALUES (new.id, new.started_at * 1000);
END;
INSERT INTO hermes_sessions (session_id, last_active_ms)
  SELECT id, max(started_at, coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), 0)) * 1000
  FROM sessions WHERE true
  ON CONFLICT (session_id) DO UPDATE SET last_active_ms = max(last_active_ms, excluded.last_active_ms);
CREATE TABLE IF NOT EXISTS hermes_tags (
  tag TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  PRIMARY KEY (tag, session_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hermes_tags_session ON hermes_tags(session_id);
CREATE TABLE IF NOT EXISTS hermes_reindex (id INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS hermes_blocks (
  block INTEGER PRIMARY KEY,
  min_ms INTEGER NOT NULL,
  max_ms INTEGER NOT NULL
);
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
