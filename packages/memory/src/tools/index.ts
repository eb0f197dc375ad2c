export { createMemoryTool, type MemoryToolServices } from './memory.js'
