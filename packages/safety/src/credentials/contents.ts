/** How much of a file is looked at. */
export const CREDENTIAL_HEAD_BYTES = 4_096

/** What only keys, tokens and stores of them look like. */
const SHAPES: readonly RegExp[] = Object.freeze([
  /-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY/,
  /^PuTTY-User-Key-File-|\bAGE-SECRET-KEY-1/m,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/,
  /\b(?:sk|rk|pk)[-_](?:live|test|ant|proj|or|svcacct)?[-_]?[A-Za-z0-9_-]{20,}/,
  /\bxox[a-z]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{20,}|\bhv[sbr]\.[A-Za-z0-9_-]{20,}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  /^SQLite format 3\0[\s\S]{0,4000}(?:moz_cookies|logins|password_value|encrypted_value)/,
  /^KDBX?|^\x03\xd9\xa2\x9a/,
])

/** A word such as `password` and what looks like its value; source code is full of them. */
const WORDED: readonly RegExp[] = Object.freeze([
  /["']?(?:refresh|access|id|session)_?token["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9._~+/=-]{12,}/i,
  /["'](?:client|consumer|app)_?secret["']\s{0,3}:\s{0,3}["'][^"'\s]{8,}/i,
  /^\s{0,8}(?:export\s{1,3})?[A-Z][A-Z0-9_]{0,40}(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_PASSWD|_PAT)\s{0,2}=\s{0,2}["']?(?!\$|["'\s]|changeme|your|xxx|<)[^\s"'$]{8,}/m,
  /^\s{0,8}machine\s+\S+\s+login\s+\S+\s+password\s+\S/m,
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{1,100}:[^\s/@"'$]{4,200}@/i,
  /^\s{0,8}[\w."':-]{0,40}(?:password|passwd|_auth|apikey|api_key)["']?\s{0,3}[=:]\s{0,3}["']?(?!\$|["'\s]|null|true|false|changeme|your|<)[^\s"'$]{6,}/im,
])

/**
 * Whether the beginning of a file, each byte as a character or as text, has what keys and tokens begin with. In source code and prose
 * (`isWork`) only shapes count, and no words.
 */
export function holdsCredential(head: string, { isWork = false }: { readonly isWork?: boolean } = {}): boolean {
  const start = head.slice(0, CREDENTIAL_HEAD_BYTES)
  return SHAPES.some((shape) => shape.test(start)) || (!isWork && WORDED.some((sign) => sign.test(start)))
}
