/** What others wrote, in one line, whole: a person agrees to all of it, not to how it begins. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** What others wrote, as far as one line has room for it. */
export function shortened(text: string, most = 120): string {
  const line = inOneLine(text)
  return line.length > most ? `${line.slice(0, most)}…` : line
}
