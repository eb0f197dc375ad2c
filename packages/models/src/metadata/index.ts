export type { AskedModel, FactSource, ModelAbilities, ModelFacts, Sourced, SourcedPrices } from './facts.js'
export { createModelDirectory, type ModelDirectory, type ModelDirectoryOptions } from './model-directory.js'
