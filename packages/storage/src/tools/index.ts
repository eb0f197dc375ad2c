export { createLearningTool } from './learning.js'
export { withLearningHints } from './learning-hints.js'
export { createSessionSearchTool } from './session-search.js'
export type { StorageToolServices } from './tool-services.js'
