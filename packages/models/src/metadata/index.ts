export type { FactSource, ModelAbilities, ModelFacts, RequestedModel, Sourced } from './facts.js'
export { createModelDirectory, type ModelDirectory, type ModelDirectoryOptions } from './model-directory.js'
