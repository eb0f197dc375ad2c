export { needs } from '../needs.js'
export { type DockerEngine, dockerMissing, startDockerEngine } from './docker-engine.js'
export { findProgram, missingPrograms } from './programs.js'
export { type SshServer, startSshServer } from './ssh-server.js'
