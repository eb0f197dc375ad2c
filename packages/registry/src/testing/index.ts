export { testToolSource } from './tool-source-cases.js'
