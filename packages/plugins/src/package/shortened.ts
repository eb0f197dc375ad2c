/** What others wrote, as far as one line has room for it. */
export function shortened(text: string, most = 120): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}
