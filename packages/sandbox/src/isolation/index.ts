export { isolationHinders } from './isolation-support.js'
export { defaultLimits, limitsLine } from './namespace-limits.js'
export { probeIsolation } from './probe-isolation.js'
