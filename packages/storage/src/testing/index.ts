export { type SkippedTests, type StoreSubject, type TestStoreOptions, testStore } from './test-store.js'
