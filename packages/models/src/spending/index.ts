export {
  type BudgetGuardOptions,
  type BudgetLimit,
  type BudgetLimits,
  type BudgetSpan,
  createBudgetGuard,
} from './budget.js'
export { knownTimeZone, type Period, periodOf } from './calendar.js'
export { createUsageRecorder, type UsageRecorder, type UsageRecorderOptions } from './recorder.js'
