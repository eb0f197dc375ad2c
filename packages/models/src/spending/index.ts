export {
  type BudgetLimit,
  type BudgetLimits,
  type BudgetStore,
  createBudgetGuard,
  dollars,
  shortNumber,
} from './budget.js'
export { periodOf } from './calendar.js'
export type { ReservationCheck } from './own-reservations.js'
export { createUsageRecorder, type UsageRecorder } from './recorder.js'
export { describeLimits } from './session-usage.js'
