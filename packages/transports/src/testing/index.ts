export type { SuiteAnswer, SuiteFault, SuiteServer, TransportSuite } from './suite-server.js'
export { testTransport } from './test-transport.js'
