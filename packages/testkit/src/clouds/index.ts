export { type DaytonaServer, startDaytonaServer } from './daytona-server.js'
export { type ModalServer, startModalServer } from './modal-server.js'
export type { CloudServer } from './service.js'
export { startVercelServer, type VercelServer } from './vercel-server.js'
