// What is searched for: terms drawn from the index itself, evenly over the logarithm of how many messages have them.
import { openDatabase } from './database.mjs'

/** As \`session_search\` asks where its person is the owner. */
const AS_THE_TOOL_ASKS = {
  order: 'relevance',
  role: ['user', 'assistant'],
  person: null,
  limit: 24,
  excludeSessions: ['20260101_000000_000000'],
}

/** @returns {Record<string, { text: string }[]>} `each` searches of every kind */
export function drawQueries(path, { random, each }) {
  const database = openDatabase(path, { readonly: true })
  const terms = readTerms(database)
  const words = terms.filter(({ term }) => /^[a-z]{3,}$/.test(term))
  const pairs = terms.filter(({ term }) => /^[\u4e00-\u9fff]{2}$/.test(term))
  const draw = createDraw(random)
  const word = () => draw(words)
  const times = (make) => Array.from({ length: each }, make)
  const newest = database.prepare('SELECT max(timestamp) FROM messages').pluck().get() * 1_000
  const oldest = database.prepare('SELECT min(timestamp) FROM messages').pluck().get() * 1_000
  const filters = [
    () => ({ role: 'user' }),
    () => ({ source: 'telegram' }),
    () => ({ beforeMs: oldest + (newest - oldest) * random() }),
    () => ({ sessionId: sessionOf(database, random) }),
  ]
  const operators = ['AND', 'OR', 'NOT']
  const queries = {
    word: times(() => ({ text: word() })),
    phrase: times(() => ({ text: phrase(database, word(), random) })),
    prefix: times(() => ({ text: `${word().slice(0, 3 + Math.floor(random() * 4))}*` })),
    boolean: times((_, i) => ({ text: `${word()} ${operators[i % 3]} ${word()}` })),
    filtered: times((_, i) => ({ text: word(), ...filters[i % filters.length]() })),
    chinese: times(() => ({ text: draw(pairs) })),
    ranked: times(() => ({ text: word(), order: 'relevance' })),
    question: times(() => ({
      text: Array.from({ length: 9 }, word).join(' '),
      ...AS_THE_TOOL_ASKS,
    })),
    'part of a word': times(() => ({ text: `*${inside(word())}*` })),
  }
  database.close()
  return queries
}

const inside = (word) => (word.length > 4 ? word.slice(1, -1) : word)

function readTerms(database) {
  database.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'messages_fts', 'row')")
  return database.prepare('SELECT term, doc FROM terms').all()
}

/** As many rare as common ones: one draw in each decade of frequency is as likely as in any other. */
function createDraw(random) {
  const sorted = new Map()
  return (terms) => {
    if (!sorted.has(terms))
      sorted.set(
        terms,
        terms.toSorted((a, b) => a.doc - b.doc),
      )
    const list = sorted.get(terms)
    const wanted = list.at(-1).doc ** random()
    let low = 0
    let high = list.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (list[middle].doc < wanted) low = middle + 1
      else high = middle
    }
    // Any of those that are as common.
    const last = list.findLastIndex((item) => item.doc === list[low].doc)
    return list[low + Math.floor(random() * (last - low + 1))].term
  }
}

/** A word with the one after it, as some message has them. */
function phrase(database, word, random) {
  const ids = database
    .prepare('SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? LIMIT 50')
    .pluck()
    .all(`"${word}"`)
  const id = ids[Math.floor(random() * ids.length)]
  const content = database.prepare('SELECT content FROM messages WHERE id = ?').pluck().get(id) ?? ''
  const next = new RegExp(`\\b${word}[ .]+([a-z]+)`).exec(content)?.[1]
  return next ? `"${word} ${next}"` : `"${word}"`
}

function sessionOf(database, random) {
  const count = database.prepare('SELECT max(rowid) FROM sessions').pluck().get()
  return database
    .prepare('SELECT id FROM sessions WHERE rowid >= ? LIMIT 1')
    .pluck()
    .get(Math.ceil(random() * count))
}
