export { type LedgerSubject, testLedger } from './ledger-cases.js'
export { type SkippedTests, type StoreSubject, type TestStoreOptions, testStore } from './test-store.js'
