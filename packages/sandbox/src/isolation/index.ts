export { type CgroupPlaces, delegatedCgroup } from './cgroup.js'
export { isolationHinders, probeIsolation } from './isolation-support.js'
export { defaultLimits, limitsLine } from './namespace-limits.js'
