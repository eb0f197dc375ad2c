export { type MemoryProviderSubject, testMemoryProvider } from './memory-provider-cases.js'
