/** Terminals drop longer sequences: xterm reads this much Base64. */
const MAX_BASE64 = 74_994

/** What a terminal obeys to put a text on the clipboard of its machine, over ssh too (OSC 52); `null` for a text that is too long for it. */
export function clipboardSequence(text: string): string | null {
  const data = Buffer.from(text).toString('base64')
  return data.length > MAX_BASE64 ? null : `\u001B]52;c;${data}\u0007`
}
