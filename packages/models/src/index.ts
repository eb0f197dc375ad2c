export { createModelClient, type ModelClientOptions, type UsageEvent } from './model-client.js'
export type { ModelPrices } from './usage.js'
