import { createHash } from 'node:crypto'

/**
 * One of `every` tests of the suite of backends, drawn by HERMES_TEST_SEED: backends run the same code over clients of their own, which have
 * tests of their own, and the local shell runs all of it. With HERMES_TEST_RUNS, all.
 */
export function sampleFor(backend: string, every: number): (title: string) => boolean {
  const { HERMES_TEST_RUNS: runs, HERMES_TEST_SEED: seed = '1' } = process.env
  if (runs !== undefined) return () => true
  const digest = (title: string) =>
    createHash('sha256')
      .update(JSON.stringify([seed, backend, title]))
      .digest()
  return (title) => digest(title)[0]! % every === 0
}
