export { isolationHinders } from './isolation-support.js'
export { probeIsolation } from './probe-isolation.js'
