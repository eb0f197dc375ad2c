export { createLearningTool } from './learning.js'
export { createSessionSearchTool } from './session-search.js'
export type { StorageToolServices } from './tool-services.js'
