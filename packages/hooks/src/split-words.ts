/** The words of a command line: blanks part them, quotes and backslashes keep them together. Nothing is expanded. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  // Taken over in pieces: sign by sign takes ten times as long.
  let [word, from]: [string | null, number] = [null, 0]
  const take = (end: number) => {
    if (end > from) word = (word ?? '') + line.slice(from, end)
  }
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === '\\' && quote !== "'" && at + 1 < line.length) {
      take(at)
      from = ++at
    } else if (quote === '' ? char === '"' || char === "'" : char === quote) {
      take(at)
      word ??= ''
      quote = quote === '' ? char : ''
      from = at + 1
    } else if (quote === '' && isBlank(char)) {
      take(at)
      if (word !== null) words.push(word)
      word = null
      from = at + 1
    }
  }
  take(line.length)
  return word === null ? words : [...words, word]
}

const isBlank = (char: string): boolean => char === ' ' || ((char < '!' || char > '\u007e') && /\s/.test(char))
