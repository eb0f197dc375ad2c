import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const script = join(import.meta.dirname, '../../scripts/text-growth.mjs')
/** `pnpm soak` asks for thousands of runs, and feeds every text to every function. */
const full = Number(process.env['HERMES_TEST_RUNS'] ?? 0) >= 1_000 ? ['--full'] : []

it('no exported function takes time out of proportion to its text', { timeout: 300_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...full], { encoding: 'utf8' })
  expect(stdout + stderr).toMatch(
    /^text-growth: \d{2,} of \d{3,} functions, 0 grow too fast \(HERMES_TEST_SEED=\d+\)\n$/,
  )
  expect(status).toBe(0)
})
