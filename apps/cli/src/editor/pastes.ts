/** A long paste, kept aside while a short name for it stands in the line. */
export interface Paste {
  readonly placeholder: string
  readonly text: string
}

const COLLAPSE_LINES = 5
const COLLAPSE_CHARS = 2000

/** What goes into the line for pasted text: the text itself, or a placeholder when it is long. */
export function collapsePaste(
  text: string,
  pastes: readonly Paste[],
): { readonly inserted: string; readonly pastes: readonly Paste[] } {
  const lines = text.split('\n', COLLAPSE_LINES + 1).length - 1
  if (lines < COLLAPSE_LINES && text.length < COLLAPSE_CHARS) return { inserted: text, pastes }
  const size = lines < COLLAPSE_LINES ? `${text.length} characters` : `${text.split('\n').length} lines`
  const number = 1 + Math.max(0, ...pastes.map((paste) => Number(/#(\d+)\]$/.exec(paste.placeholder)?.[1] ?? 0)))
  const placeholder = `[Pasted ${size} #${number}]`
  return { inserted: placeholder, pastes: [...pastes, { placeholder, text }] }
}

/** The line as it was meant: placeholders replaced by what they stand for. */
export function expandPastes(text: string, pastes: readonly Paste[]): string {
  if (pastes.length === 0) return text
  const texts = new Map(pastes.map((paste) => [paste.placeholder, paste.text]))
  return text.replace(/\[Pasted \d+ (?:lines|characters) #\d+\]/g, (found) => texts.get(found) ?? found)
}

/** The placeholder that ends at `cursor`, so that one key takes it away as a whole. */
export function placeholderBefore(text: string, cursor: number, pastes: readonly Paste[]): Paste | null {
  return pastes.find(({ placeholder }) => text.slice(0, cursor).endsWith(placeholder)) ?? null
}
