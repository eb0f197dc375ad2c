export { cleanOutput } from './clean-output.js'
export { exitCodeMeaning } from './exit-code-meaning.js'
export { type EnvironmentFilter, filterEnvironment } from './filter-environment.js'
export { createLocalEnvironment, type LocalEnvironmentOptions } from './local-environment.js'
