export { needs } from '../needs.js'
export { findProgram, missingPrograms } from './programs.js'
export { type SshServer, startSshServer } from './ssh-server.js'
