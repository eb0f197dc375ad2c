/** Dollars with cents, and with more digits where that would be nothing. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`
}

/** A count in at most five characters: `950`, `12.3k`, `4.5M`. */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_500) return `${(count / 1_000).toPrecision(3).replace(/\.0+$/, '')}k`
  return `${(count / 1_000_000).toPrecision(3).replace(/\.0+$/, '')}M`
}
