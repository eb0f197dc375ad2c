import { likePattern, MAX_WORDS_OF_PART, type WordPart, type WordsOfParts } from '../../shared/word-parts.js'
import type { Connection } from '../server/connection.js'

/** Words are gathered from so many of the newest messages that have the part. */
const MESSAGES = 2_000
/** The index of trigrams says which messages have the part. It covers the beginning of each, see the schema. */
const WORDS = `
  SELECT word FROM (
    SELECT words FROM messages WHERE left(content, 10000) ILIKE $1 ORDER BY id DESC LIMIT ${MESSAGES}
  ) newest, unnest(tsvector_to_array(newest.words)) word
  WHERE word LIKE $2 GROUP BY word ORDER BY count(*) DESC, word LIMIT ${MAX_WORDS_OF_PART}`

/** The words that have each of the parts, the most common ones of many. */
export async function wordsOfParts(connection: Connection, parts: readonly WordPart[]): Promise<WordsOfParts> {
  const found = new Map<string, readonly string[]>()
  for (const part of parts) {
    const typed = `%${part.typed.replaceAll(/[\\%_]/g, '\\$&')}%`
    const words = await connection.read((statements) =>
      statements.all<{ word: string }>(WORDS, typed, likePattern(part)),
    )
    found.set(
      part.key,
      words.map(({ word }) => word),
    )
  }
  return found
}
