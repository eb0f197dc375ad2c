export { type ApprovalSubject, testApprovalStore } from './approval-cases.js'
export { type AuditSubject, testAuditLog } from './audit-cases.js'
export { type LedgerSubject, testLedger } from './ledger-cases.js'
export { type SkippedTests, type StoreSubject, type TestStoreOptions, testStore } from './test-store.js'
