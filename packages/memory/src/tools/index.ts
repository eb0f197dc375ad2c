export { createMemoryTool, type MemoryToolServices } from './memory.js'
export { createRecallTool, type RecallService } from './recall.js'
