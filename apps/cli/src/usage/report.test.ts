import { noUsage } from '@hermes/contracts/conversation'
import type { UsageTotal } from '@hermes/contracts/store'
import { expect, it } from 'vitest'
import { createStyle } from '../render/style.js'
import { renderUsage } from './report.js'

const row: UsageTotal = {
  key: 'm',
  calls: 2,
  usage: { ...noUsage, inputTokens: 100, costUsd: 0.5 },
  knownCostUsd: 0.5,
  unpricedCalls: 0,
  priceSources: ['reported'],
}
const style = createStyle({ colors: false })
const drawn = (total: UsageTotal) =>
  renderUsage({ title: 'Usage', group: 'model', rows: [total], total }, style, 80)
    .split('\n')
    .slice(3)

it('marks a cost in which there are estimates, and says how many', () => {
  const text = drawn({ ...row, estimatedCalls: 1 }).join('\n')
  expect(text).toContain('≈ $0.50')
  expect(text).toContain('The tokens of one call are estimated: the answer broke off.')
  expect(drawn({ ...row, unpricedCalls: 1, estimatedCalls: 2 }).join('\n')).toMatch(
    /≥ \$0\.50[\s\S]*The tokens of 2 calls are estimated/,
  )
  expect(drawn(row).join('\n')).not.toMatch(/≈|estimated/)
})
