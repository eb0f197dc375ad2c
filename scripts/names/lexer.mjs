// A TypeScript or JavaScript file as tokens: names on one side, and what a person reads (comments, strings) on the other.
// It is a lexer and no parser because `pnpm lint` reads every file of the repository with it.

const TOKEN =
  /(\s+)|(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*")|(#?[\p{L}_$][\p{L}\p{N}_$]*)|(\d[\w.]*)|(`)|([\s\S])/uy
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/uy
const CHUNK = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/uy
/** After these words a slash begins a regular expression. */
const BEFORE_REGEX = new Set('return typeof case in of delete void throw new else do await yield instanceof'.split(' '))

/**
 * @param {string} text
 * @returns {{ type: 'name' | 'comment' | 'string', text: string, at: number }[]} in the order of the text
 */
export function readTokens(text) {
  const tokens = []
  const templates = []
  let depth = 0
  let valueBefore = false
  let at = 0
  const readChunk = () => {
    CHUNK.lastIndex = at
    const [chunk] = CHUNK.exec(text) ?? ['']
    if (chunk) tokens.push({ type: 'string', text: chunk, at })
    at += chunk.length
    if (text.startsWith('${', at)) {
      templates.push(depth)
      depth = 0
      valueBefore = false
      at += 2
    } else {
      valueBefore = true
      at += 1
    }
  }
  while (at < text.length) {
    if (text[at] === '/' && !valueBefore && text[at + 1] !== '/' && text[at + 1] !== '*') {
      REGEX.lastIndex = at
      const regex = REGEX.exec(text)
      if (regex) {
        at += regex[0].length
        valueBefore = true
        continue
      }
    }
    TOKEN.lastIndex = at
    const [all, space, comment, string, name, number, backtick, mark] = TOKEN.exec(text)
    const start = at
    at += all.length
    if (space) continue
    if (comment) {
      tokens.push({ type: 'comment', text: comment, at: start })
      continue
    }
    if (backtick) {
      readChunk()
      continue
    }
    if (string) tokens.push({ type: 'string', text: string, at: start })
    if (name) tokens.push({ type: 'name', text: name, at: start })
    if (mark === '{') depth++
    if (mark === '}' && depth-- === 0 && templates.length > 0) {
      depth = templates.pop()
      readChunk()
      continue
    }
    valueBefore = name
      ? !BEFORE_REGEX.has(name)
      : Boolean(string || number || mark === ')' || mark === ']' || mark === '}')
  }
  return tokens
}
