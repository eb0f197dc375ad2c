/** Gives a test for paths relative to the search root. Without a slash a pattern is about names, at any depth. */
export async function globMatcher(pattern: string): Promise<(path: string) => boolean> {
  const { default: picomatch } = await import('picomatch')
  const clean = pattern.replace(/^(!?)\.?\//, '$1')
  return picomatch(clean, { dot: true, basename: !clean.includes('/') })
}

/** Whether a pattern names something hidden, as `.env*` or `.github/**` do. */
export const namesHidden = (pattern: string): boolean => /(?:^|\/)!?\.(?!\.?\/)[^/]/.test(pattern.replace(/^\.\//, ''))
