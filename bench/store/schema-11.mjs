// The floor: tables and indexes as schema 11 of the reference format has them, every text stored three times.
import { statSync } from 'node:fs'
import { createCorpus } from './corpus.mjs'
import { openDatabase } from './database.mjs'

const TABLES = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
  parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
  tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
  cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
  billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL,
  cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT, api_call_count INTEGER DEFAULT 0);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER,
  finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
  codex_message_items TEXT);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE VIRTUAL TABLE messages_fts USING fts5(content);
CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, tokenize='trigram');
${['messages_fts', 'messages_fts_trigram']
  .map(
    (table) => `CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN
    INSERT INTO ${table}(rowid, content) VALUES (new.id,
      COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, ''));
  END;`,
  )
  .join('\n')}`
const MESSAGE = `INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp)
  VALUES (?, ?, ?, ?, ?, ?, ?)`
const SEARCH = `SELECT m.id, snippet(messages_fts, 0, '>>>', '<<<', '...', 40) FROM messages_fts JOIN messages m ON m.id = messages_fts.rowid
  JOIN sessions s ON s.id = m.session_id WHERE messages_fts MATCH ? ORDER BY rank LIMIT 10`

/** Writes the corpus, some thousands of messages per transaction. @returns {{ bytes: number }} once the log is in the file */
export function buildSchema11(path, messages) {
  const database = open(path)
  const session = database.prepare('INSERT INTO sessions (id, source, started_at) VALUES (?, ?, ?)')
  const message = database.prepare(MESSAGE)
  const write = database.transaction((sessions) => {
    for (const { id, source, messages: list } of sessions) {
      session.run(id, source, list[0].atMs / 1_000)
      for (const { role, content, callId, tool, args, atMs } of list) {
        const calls = args && [
          { id: callId, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } },
        ]
        const isTool = role === 'tool'
        message.run(
          id,
          role,
          content,
          isTool ? callId : null,
          calls ? JSON.stringify(calls) : null,
          isTool ? tool : null,
          atMs / 1_000,
        )
      }
    }
  })
  const batch = []
  for (const one of createCorpus(messages)) {
    batch.push(one)
    if (batch.length === 100) write(batch.splice(0))
  }
  write(batch)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return { bytes: statSync(path).size }
}

/** One durable message after the other. @returns {number} per second */
export function appendToSchema11(path, count) {
  const database = open(path)
  database.prepare('INSERT INTO sessions (id, source, started_at) VALUES (?, ?, ?)').run('s', 'cli', 0)
  const message = database.prepare(MESSAGE)
  const text = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(8)
  const fromMs = performance.now()
  for (let i = 0; i < count; i++) message.run('s', 'user', `${i} ${text}`, null, null, null, i)
  const perSecond = (count * 1_000) / (performance.now() - fromMs)
  database.close()
  return perSecond
}

/** The same words, best match first as that format's own search has them. @returns {number[]} milliseconds of each */
export function searchSchema11(path, texts) {
  const database = openDatabase(path, { readonly: true })
  const statement = database.prepare(SEARCH)
  const samples = texts.map((text) => {
    const fromMs = performance.now()
    statement.all(`"${text}"`)
    return performance.now() - fromMs
  })
  database.close()
  return samples
}

function open(path) {
  const database = openDatabase(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.exec(
    TABLES.replaceAll(/CREATE (TABLE|INDEX|UNIQUE INDEX|TRIGGER|VIRTUAL TABLE) /g, 'CREATE $1 IF NOT EXISTS '),
  )
  return database
}
