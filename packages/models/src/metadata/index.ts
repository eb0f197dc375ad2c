export type { FactSource, ModelAbilities, ModelFacts, RequestedModel, Sourced, SourcedPrices } from './facts.js'
export { createModelDirectory, type ModelDirectory, type ModelDirectoryOptions } from './model-directory.js'
