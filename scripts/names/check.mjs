// Old words in a repository: names of the code, names of files, and phrases that a person reads.
import { readTokens } from './lexer.mjs'

/**
 * @param {{ files: Map<string, string>, matcher: ReturnType<typeof import('./match.mjs').createMatcher>, isCode: (file: string) => boolean }} input
 * @returns {{ file: string, line: number, kind: string, found: string, say: string }[]}
 */
export function checkNames({ files, matcher, isCode }) {
  const meant = new Map()
  const mayMean = (name) => {
    if (!meant.has(name)) meant.set(name, matcher.mayMean(name))
    return meant.get(name)
  }
  return [...files].flatMap(([file, text]) => {
    const moved = matcher.path(file)
    const hits = moved ? [{ at: 0, kind: 'file', found: file, say: moved.text }] : []
    if (isCode(file)) hits.push(...namesIn(file, text, matcher, mayMean))
    hits.push(...phrasesIn(file, text, matcher))
    return hits.map(({ at, ...hit }) => ({ file, line: lineOf(text, at), ...hit }))
  })
}

function namesIn(file, text, matcher, mayMean) {
  const words = new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu))
  if (![...words].some(mayMean)) return []
  const hits = []
  for (const { type, text: name, at } of readTokens(text)) {
    if (type !== 'name' || !mayMean(name.replace('#', ''))) continue
    const found = matcher.name(name.replace('#', ''), file, { text, at: at + Number(name.startsWith('#')) })
    if (found) hits.push({ at, kind: 'identifier', found: name, say: found.text })
  }
  return hits
}

function phrasesIn(file, text, matcher) {
  const hits = []
  for (const row of matcher.proseRows) {
    if (!row.inFile(file)) continue
    for (const match of text.matchAll(row.pattern))
      if (!matcher.excepted('prose', match[0], file, { text, at: match.index }))
        hits.push({
          at: match.index,
          kind: 'prose',
          found: match[0].replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' '),
          say: row.new,
        })
  }
  return hits
}

const lineOf = (text, at) => text.slice(0, at).split('\n').length
