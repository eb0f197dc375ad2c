export { askModel } from './ask.js'
export type { Admission, BudgetedCall, BudgetGuard } from './budget-guard.js'
export type { KeyLimits, ModelEndpoint } from './endpoint.js'
export {
  createModelClient,
  type ModelClientOptions,
  type ResilientModelClient,
  type UsageEvent,
} from './model-client.js'
export type { ModelPrices } from './usage.js'
export { usageCommand } from './usage-command.js'
