export { openVercelEnvironment, probeVercel } from './open-vercel.js'
export type { VercelOptions } from './vercel-options.js'
