/** How far a source of skills is trusted. What the scanner finds in one of `community` is not installed without `--force`; what it blocks never is. */
export type SourceTrust = 'trusted' | 'community'

/** The same of GitHub, however it is written; without what is wanted of it. */
const plainSource = (source: string): string =>
  source
    .trim()
    .replace(/#.*$/, '')
    .replace(/^git\+/, '')
    .replace(/^(?:github:|https:\/\/(?:www\.)?github\.com\/|git@github\.com:|ssh:\/\/git@github\.com\/)/, '')
    .replace(/\.git(?=\/|$)/, '')
    .replace(/\/+$/, '')

/** `trusted`: what the person names in `skills.trusted_sources`, or lies below it: `OWNER`, `OWNER/REPOSITORY`, an address, `clawhub:@OWNER`, a folder. Pure. */
export function sourceTrust(from: string, trusted: readonly string[]): SourceTrust {
  const source = plainSource(from)
  // An address may have them in other letters, and be read from its end only then.
  if (/(?:^|[/\\])(?:\.|%2e){2}(?:[/\\]|$)/i.test(source)) return 'community'
  const isBelow = (root: string) => root !== '' && (source === root || source.startsWith(`${root}/`))
  return trusted.some((one) => isBelow(plainSource(one))) ? 'trusted' : 'community'
}
