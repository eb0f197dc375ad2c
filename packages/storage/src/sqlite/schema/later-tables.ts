import type { LaterTable } from '../../shared/tables.js'

/** How each of these tables is made, by its first row. */
export const LATER_TABLES: Readonly<Record<LaterTable, readonly string[]>> = {
  hermes_approvals: [keptRows('hermes_approvals')],
  hermes_questions: [keptRows('hermes_questions')],
  hermes_audit: [
    `CREATE TABLE IF NOT EXISTS hermes_audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    decision TEXT NOT NULL,
    tool TEXT,
    record TEXT NOT NULL,
    hash TEXT NOT NULL
  )`,
    'CREATE INDEX IF NOT EXISTS hermes_audit_at ON hermes_audit(at_ms)',
  ],
  hermes_usage: [
    `CREATE TABLE IF NOT EXISTS hermes_usage (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    session_id TEXT,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL,
    price_source TEXT,
    duration_ms INTEGER NOT NULL,
    estimated INTEGER NOT NULL DEFAULT 0
  )`,
    'CREATE INDEX IF NOT EXISTS hermes_usage_at ON hermes_usage(at_ms)',
    'CREATE INDEX IF NOT EXISTS hermes_usage_session ON hermes_usage(session_id)',
  ],
  hermes_holds: [
    `CREATE TABLE IF NOT EXISTS hermes_holds (
    id TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    session_id TEXT,
    tokens INTEGER NOT NULL,
    cost_usd REAL,
    since_ms INTEGER NOT NULL
  ) WITHOUT ROWID`,
  ],
  hermes_learnings: [
    `CREATE TABLE IF NOT EXISTS hermes_learnings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pattern TEXT NOT NULL,
    error_type TEXT NOT NULL,
    fix TEXT NOT NULL,
    context TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    times_used INTEGER NOT NULL,
    person TEXT NOT NULL DEFAULT ''
  )`,
  ],
  hermes_summaries: [
    `CREATE TABLE IF NOT EXISTS hermes_summaries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE REFERENCES sessions(id) ON DELETE CASCADE,
    summary TEXT NOT NULL,
    keywords TEXT NOT NULL,
    up_to_seq INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  )`,
  ],
  hermes_jobs: [
    `CREATE TABLE IF NOT EXISTS hermes_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    key TEXT,
    payload TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    error TEXT,
    holder TEXT,
    held_until_ms INTEGER
  )`,
    `CREATE UNIQUE INDEX IF NOT EXISTS hermes_jobs_key ON hermes_jobs(key) WHERE status IN ('waiting', 'running')`,
    `CREATE INDEX IF NOT EXISTS hermes_jobs_open ON hermes_jobs(due_ms) WHERE status IN ('waiting', 'running')`,
  ],
  hermes_outbox: [
    `CREATE TABLE IF NOT EXISTS hermes_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    target TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    uncertain INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    parts_sent INTEGER NOT NULL,
    platform_ids TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    over_ms INTEGER,
    error TEXT,
    holder TEXT,
    held_until_ms INTEGER
  )`,
    `CREATE INDEX IF NOT EXISTS hermes_outbox_open ON hermes_outbox(platform, target, id)
    WHERE status IN ('waiting', 'sending', 'perhaps')`,
    'CREATE INDEX IF NOT EXISTS hermes_outbox_over ON hermes_outbox(over_ms) WHERE over_ms IS NOT NULL',
  ],
}

/** Columns that tables of older versions lack. */
export const ADDED_COLUMNS: Readonly<Partial<Record<LaterTable, readonly [name: string, definition: string]>>> = {
  hermes_usage: ['estimated', 'INTEGER NOT NULL DEFAULT 0'],
  hermes_learnings: ['person', "TEXT NOT NULL DEFAULT ''"],
}

function keptRows(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    status TEXT NOT NULL,
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    approval TEXT NOT NULL
  )`
}
