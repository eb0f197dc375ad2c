import type { HermesConfig } from '@hermes/config'
import { type EvaluationSettings, isRange } from '@hermes/safety'

/** What `security` of config.yaml says about addresses. */
export function networkOf({ security }: Pick<HermesConfig, 'security'>): NonNullable<EvaluationSettings['network']> {
  const { allow_private_urls: isOpen, allowed_ranges: allowRanges } = security
  return { allowLoopback: isOpen, allowPrivate: isOpen, allowRanges }
}

/** Deny globs for the domains that config.yaml blocks: addresses there, and commands that name one. */
export function blockedSites({ security }: Pick<HermesConfig, 'security'>): readonly string[] {
  const { enabled, domains } = security.website_blocklist
  if (!enabled) return []
  return domains.flatMap((domain) => {
    const host = hostOf(domain)
    if (host === null) return []
    const names = [host, `${host}.`].flatMap((name) => [name, `${name}/*`, `${name}:*`])
    return ['://', '://*.'].flatMap((before) => names.map((name) => `*${before}${name}`))
  })
}

/** The name of a domain as addresses have it, however it is written: with capitals, as a page of it, for what is below it. */
function hostOf(domain: string): string | null {
  const name = domain
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^\*\./, '')
  const host = URL.parse(`http://${name}`)?.hostname.replace(/\.$/, '') ?? ''
  return host === '' || host.includes('*') ? null : host
}

/** Ranges and domains that cannot be read, a line each. */
export function networkProblems({ security }: Pick<HermesConfig, 'security'>): readonly string[] {
  const { enabled, domains } = security.website_blocklist
  return [
    ...security.allowed_ranges
      .filter((range) => !isRange(range))
      .map((range) => `security.allowed_ranges: "${range}" is no range such as 198.18.0.0/15; it is left out.`),
    ...(enabled ? domains : [])
      .filter((domain) => hostOf(domain) === null)
      .map(
        (domain) =>
          `security.website_blocklist.domains: "${domain}" is no domain such as example.com; it closes nothing.`,
      ),
  ]
}
