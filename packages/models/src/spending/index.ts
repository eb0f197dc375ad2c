export {
  type BudgetBook,
  type BudgetGuardOptions,
  type BudgetLimit,
  type BudgetLimits,
  type BudgetSpan,
  createBudgetGuard,
} from './budget.js'
export { knownTimeZone, type Period, periodOf } from './calendar.js'
export type { HoldQuestion } from './own-holds.js'
export { createUsageRecorder, type UsageRecorder, type UsageRecorderOptions } from './recorder.js'
