/** What a file of keys or passwords is called, wherever it is. */
const KEY_FILE =
  /^(?:\.env(?:rc|[._-](?!example$|sample$|template$|dist$)[\w.-]+)?|\.(?:npmrc|pypirc|netrc|pgpass|git-credentials|htpasswd|dockercfg|vault-token|my\.cnf|s3cfg)|credentials(?:\.\w+)?|secrets?\.(?:ya?ml|json|toml|env|txt|ini)|service[-_]account[\w.-]*\.json|tokens?\.json|auth\.json|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|key|p12|pfx|keystore|jks|kdbx|ovpn)|wallet\.dat|login data|cookies(?:\.sqlite)?|logins\.json|key4\.db)$/i

/** What such a file is called elsewhere in a home folder, where nobody works on a program that has such words in its names. */
const LIKELY: readonly RegExp[] = Object.freeze([
  /credential/i,
  /token/i,
  /(?<![a-z])(?:api|auth|access|secret|private|master|signing|encryption)[_-]?keys?(?![a-z])/i,
  /(?<![a-z])(?:secrets?|passwords?|passwd|passphrase)(?![a-z])/i,
  /^(?:client_secret|client-secret)[\w.-]*\.json$/i,
  /^id_[a-z0-9_-]+$/i,
  /_history$/i,
  /\.(?:p8|ppk|asc|gpg|pgp|kdb|keychain(?:-db)?|kubeconfig|agekey)$/i,
  /^\.?kubeconfig$|^wallet\.json$|^key3\.db$|^signons\.sqlite$|^web data$/i,
  /^cookies\.(?:txt|binarycookies|db|json)$|^(?:login data|cookies)-journal$/i,
])

/** Of language models: words, not keys. */
const VOCABULARY = /tokeni[sz]|(?:special|added)_tokens/i
/** Words such as `token` say nothing of what programs, prose and pictures hold. */
const WORKS =
  /\.(?:[cm]?[jt]sx?|py[ic]?|rs|go|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scala|clj|exs?|erl|hs|ml|lua|pl|r|jl|vue|svelte|s?css|html?|mdx?|rst|adoc|tex|svg|png|jpe?g|gif|webp|snap|lock|map|wasm|so|o|a|class)$/i

/** Names of files end somewhere. */
const LONGEST = 255

/** Whether a file holds keys or passwords by its name, wherever it is: `id_rsa`, `.env`, `server.pem`. */
export function isKeyFile(path: string): boolean {
  const name = nameOf(path)
  return name !== null && KEY_FILE.test(name)
}

/** Whether a file in a home folder, outside of what is worked on, probably does: also `github-token.txt`, `old_history`. */
export function isCredentialName(path: string): boolean {
  const name = nameOf(path)
  if (name === null) return false
  if (KEY_FILE.test(name)) return true
  return LIKELY.some((pattern) => pattern.test(name)) && !WORKS.test(name) && !VOCABULARY.test(name)
}

/** Whether a file is source code, prose or a picture by its name. */
export function isWorkFile(path: string): boolean {
  return WORKS.test(nameOf(path) ?? '')
}

function nameOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name.length > LONGEST ? null : name
}
