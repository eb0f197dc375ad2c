/** The words of a command line: blanks part them, quotes and backslashes keep them together. Nothing is expanded. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === '\\' && quote !== "'" && at + 1 < line.length) word = (word ?? '') + line[++at]!
    else if (quote !== '') {
      if (char === quote) quote = ''
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (char === ' ' || ((char < '!' || char > '~') && /\s/.test(char))) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + char
  }
  return word === null ? words : [...words, word]
}
