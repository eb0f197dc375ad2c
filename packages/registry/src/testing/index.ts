export { type ToolSourceSubject, testToolSource } from './tool-source-cases.js'
