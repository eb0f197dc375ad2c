export { testMemoryProvider } from './memory-provider-cases.js'
