import { HermesError } from '@hermes/contracts'

/** Brackets in a longer one would take seconds. */
const MAX_GLOB_CHARS = 4_096

/** Gives a test for paths relative to the search root. Without a slash a pattern is about names, at any depth. @throws HermesError `tool.bad_pattern` for more than 4,096 characters. */
export async function globMatcher(pattern: string): Promise<(path: string) => boolean> {
  if (pattern.length > MAX_GLOB_CHARS)
    throw new HermesError(`The glob has more than ${MAX_GLOB_CHARS} characters. Use a shorter one.`, {
      code: 'tool.bad_pattern',
    })
  const { default: picomatch } = await import('picomatch')
  const clean = pattern.replace(/^(!?)\.?\//, '$1')
  return picomatch(clean, { dot: true, basename: !clean.includes('/') })
}

/** Whether a pattern names something hidden, as `.env*` or `.github/**` do. */
export const namesHidden = (pattern: string): boolean => /(?:^|\/)!?\.(?!\.?\/)[^/]/.test(pattern.replace(/^\.\//, ''))
