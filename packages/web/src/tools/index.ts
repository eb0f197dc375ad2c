export { createWebExtractTool } from './web-extract.js'
export type { WebToolServices } from './web-search.js'
export { createWebSearchTool } from './web-search.js'
export { createXSearchTool } from './x-search.js'
