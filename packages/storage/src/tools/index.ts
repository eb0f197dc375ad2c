export type { StorageToolServices } from './learning.js'
export { createLearningTool } from './learning.js'
export { createSessionSearchTool } from './session-search.js'
