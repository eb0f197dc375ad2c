export {
  type BudgetGuardOptions,
  type BudgetLimit,
  type BudgetLimits,
  type BudgetSpan,
  type BudgetStore,
  createBudgetGuard,
} from './budget.js'
export { knownTimeZone, type Period, periodOf } from './calendar.js'
export { dollars, shortNumber } from './figures.js'
export type { ReservationCheck } from './own-reservations.js'
export { createUsageRecorder, type UsageRecorder, type UsageRecorderOptions } from './recorder.js'
export { describeLimits } from './session-usage.js'
