import type { HermesConfig } from '@hermes/config'
import { isRange, type JudgeSettings } from '@hermes/safety'

/** What `security` of config.yaml says about addresses. */
export function networkOf({ security }: Pick<HermesConfig, 'security'>): NonNullable<JudgeSettings['network']> {
  const { allow_private_urls: isOpen, allowed_ranges: allowRanges } = security
  return { allowLoopback: isOpen, allowPrivate: isOpen, allowRanges }
}

/** Deny globs for the domains that config.yaml blocks: addresses there, and commands that name one. */
export function blockedSites({ security }: Pick<HermesConfig, 'security'>): readonly string[] {
  const { enabled, domains } = security.website_blocklist
  if (!enabled) return []
  return domains.flatMap((domain) => {
    const name = domain.trim().replace(/^(?:\*\.)?/, '')
    return ['://', '://*.'].flatMap((before) => [name, `${name}/*`, `${name}:*`].map((rest) => `*${before}${rest}`))
  })
}

/** Ranges that cannot be read, a line each. */
export function rangeProblems({ security }: Pick<HermesConfig, 'security'>): readonly string[] {
  const unread = security.allowed_ranges.filter((range) => !isRange(range))
  return unread.map((range) => `security.allowed_ranges: "${range}" is no range such as 198.18.0.0/15; it is left out.`)
}
